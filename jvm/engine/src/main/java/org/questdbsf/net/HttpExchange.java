package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One HTTP request and its response under one time-out: on a fresh connection, TLS included, or on
 * one that was kept. Lives on the event loop; {@link #await} is for the thread that dialled.
 *
 * @param <T> what the response is made into
 */
abstract class HttpExchange<T> extends SimpleChannelInboundHandler<HttpObject> {

  /** A response, perhaps without the end of its body. */
  record Answer(HttpResponseStatus status, HttpHeaders headers, byte[] body, boolean complete) {}

  private static final int EXCERPT = 300;

  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final boolean tls;
  private final int timeoutMillis;
  private final int maxBodyBytes;
  private final ForeignText foreign;
  private ChannelHandlerContext context;
  private ScheduledFuture<?> timer;
  private boolean secured;
  private HttpResponse head;
  private volatile boolean timedOut;

  HttpExchange(boolean tls, int timeoutMillis, int maxBodyBytes, ForeignText foreign) {
    this.tls = tls;
    this.timeoutMillis = timeoutMillis;
    this.maxBodyBytes = maxBodyBytes;
    this.foreign = foreign;
  }

  /** Sends the request. */
  abstract void begin(ChannelHandlerContext ctx);

  /** True when the response needs no body to be judged. */
  abstract boolean decidedByHead(HttpResponse response);

  /** Makes the result of the response: calls {@link #succeed} or {@link #fail}. */
  abstract void answered(ChannelHandlerContext ctx, Answer answer);

  /** The exception for {@link #await}'s caller; {@code what} is a clause for people. */
  abstract Exception failure(String what, Throwable cause);

  /**
   * Waits for the result, which the time-out bounds.
   *
   * @throws ExecutionException with the exception that {@link #failure} made
   * @throws InterruptedException when interrupted before there was a result; the connection is
   *     reset then
   */
  final T await() throws ExecutionException, InterruptedException {
    try {
      return result.get();
    } catch (InterruptedException e) {
      if (abandon()) {
        Channels.reset(context.channel());
        throw e;
      }
      // the result was faster, be it a failure, and is the one that counts
      try {
        return result.get();
      } finally {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * For a caller that was interrupted: true when nobody will have the result, false when it is
   * there.
   */
  final boolean abandon() {
    return result.completeExceptionally(new CancellationException("interrupted"));
  }

  /** Offers the result; false when the caller has given up. */
  final boolean succeed(T value) {
    cancelTimer();
    return result.complete(value);
  }

  /** Ends the exchange without a result and closes the connection. */
  final void fail(Exception failure) {
    cancelTimer();
    result.completeExceptionally(failure);
    context.close();
  }

  final boolean isOver() {
    return result.isDone();
  }

  /** The connection that {@link Dialer#dial} made. */
  final Channel channel() {
    return context.channel();
  }

  /** Whether the server let the time pass; else it, or the network, ended the connection. */
  final boolean timedOut() {
    return timedOut;
  }

  /** Whether the connection is good for another request when this one is answered. */
  final boolean keepsAlive() {
    return head != null && HttpUtil.isKeepAlive(head);
  }

  @Override
  public final void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
    if (ctx.channel().isActive()) { // a connection that was kept
      secured = tls;
      start(ctx);
    }
  }

  @Override
  public final void channelActive(ChannelHandlerContext ctx) {
    start(ctx);
    ctx.fireChannelActive();
  }

  private void start(ChannelHandlerContext ctx) {
    timer = ctx.executor().schedule(this::onTimeout, timeoutMillis, TimeUnit.MILLISECONDS);
    begin(ctx);
  }

  @Override
  protected final void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
    if (isOver()) {
      return;
    }
    if (message.decoderResult().isFailure()) {
      Throwable cause = message.decoderResult().cause();
      String what = "the answer is not HTTP" + orTls() + ": ";
      // Without the cause: its text has the server's words as they came.
      fail(failure(what + clean(Channels.describe(cause)), null));
      return;
    }
    if (message instanceof HttpResponse response && !isInterim(response)) {
      head = response;
      if (decidedByHead(response)) {
        finish(false);
        return;
      }
    }
    if (head != null && message instanceof HttpContent content) {
      keep(content.content());
      if (message instanceof LastHttpContent) {
        finish(true);
      } else if (body.size() >= maxBodyBytes) {
        finish(false);
      }
    }
  }

  /** What the server said, fit for people. */
  final String clean(String said) {
    return foreign.clean(said);
  }

  /** The beginning of the body on one line, for people; empty when there is none. */
  final String excerpt(Answer answer) {
    return excerpt(answer, foreign);
  }

  static String excerpt(Answer answer, ForeignText foreign) {
    String text = foreign.clean(new String(answer.body(), StandardCharsets.UTF_8));
    text = text.replaceAll("\\s+", " ").strip();
    return text.length() <= EXCERPT ? text : text.substring(0, EXCERPT).strip() + "...";
  }

  private static boolean isInterim(HttpResponse response) {
    int code = response.status().code();
    return code >= 100 && code < 200 && code != HttpResponseStatus.SWITCHING_PROTOCOLS.code();
  }

  private void keep(ByteBuf content) {
    int bytes = Math.min(content.readableBytes(), maxBodyBytes - body.size());
    try {
      content.readBytes(body, bytes);
    } catch (IOException e) {
      throw new IllegalStateException("a ByteArrayOutputStream does not throw", e);
    }
  }

  private void finish(boolean complete) {
    answered(context, new Answer(head.status(), head.headers(), body.toByteArray(), complete));
  }

  private void onTimeout() {
    if (isOver()) {
      return;
    }
    timedOut = true;
    if (head != null) {
      finish(false); // the status is known, only the end of the body is missing
    } else {
      String what = tls && !secured ? "no TLS handshake" : "no answer";
      result.completeExceptionally(
          failure(what + " within " + timeoutMillis + " ms (auth_timeout_ms)", null));
      Channels.reset(context.channel()); // a peer so silent may not take a good-bye either
    }
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  @Override
  public final void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake && !isOver()) {
      secured = handshake.isSuccess();
      if (!secured) {
        failBy(handshake.cause());
      }
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // once over, the caller has its answer, and the channel is only being closed
    if (!isOver() && head != null) {
      finish(false); // the status is known: a reset behind it takes nothing away
    } else if (!isOver()) {
      failBy(cause);
    }
  }

  @Override
  public final void channelInactive(ChannelHandlerContext ctx) {
    cancelTimer();
    if (isOver()) {
      return;
    }
    if (head != null) {
      finish(false);
    } else {
      String when = tls && !secured ? "the TLS handshake" : "an answer" + orTls();
      fail(failure("the server closed the connection before " + when, null));
    }
  }

  /** A server that wants TLS answers an alert to what is none, or nothing. */
  private String orTls() {
    return tls ? "" : "; if this port speaks TLS, use wss:: (tls=on)";
  }

  /** Ends the exchange for a failure of the socket, TLS or a codec. */
  final void failBy(Throwable cause) {
    Throwable root = Channels.root(cause);
    if (root instanceof NotSslRecordException) { // its message is a dump of what came
      String what =
          "the server does not speak TLS at this port; use ws:: (tls=off), or the TLS port";
      fail(failure(what, root));
      return;
    }
    String when = tls && !secured ? "TLS handshake failed: " : "connection failed: ";
    fail(failure(when + clean(Channels.describe(cause)), root));
  }
}
