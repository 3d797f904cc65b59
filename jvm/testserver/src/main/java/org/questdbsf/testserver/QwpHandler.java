package org.questdbsf.testserver;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * WebSocket frames of one connection, in and out. A message is one unfragmented binary frame
 * (client spec, section on transport framing); anything else ends the connection with the close
 * code for it. Replies go through a queue, so that a scripted delay never sleeps on the event loop.
 */
final class QwpHandler extends SimpleChannelInboundHandler<ClientFrame> implements SessionOutput {
  private static final Logger LOG = LoggerFactory.getLogger(QwpHandler.class);
  private static final int PROTOCOL_ERROR = 1002;
  private static final int NOT_SUPPORTED = 1003;
  private static final int TOO_BIG = 1009;
  private static final int MAX_REASON_BYTES = 123;
  private static final long LINGER_MILLIS = 2_000;

  private final Script script;
  private final PortCounters counters;
  private final Session session;
  private final Runnable onScript;
  private final Queue<Waiting> replies = new ArrayDeque<>();
  private ChannelHandlerContext context;
  private long lastDueNanos;
  private boolean closing;
  private boolean peerClosed;
  private volatile boolean sessionReads = true;

  /** A frame to send, when, whether it is the last, and what it acknowledges. */
  private record Waiting(long dueNanos, Object frame, boolean last, Tally acked) {}

  QwpHandler(Script script, PortCounters counters, Function<SessionOutput, Session> sessions) {
    this.script = script;
    this.counters = counters;
    this.session = sessions.apply(this);
    this.onScript =
        () -> {
          session.scriptChanged();
          context.executor().execute(this::sendDue);
          reading(sessionReads);
        };
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
    counters.connections.incrementAndGet();
    counters.connectionsTotal.incrementAndGet();
    script.addListener(onScript);
    onScript.run();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    script.removeListener(onScript);
    counters.connections.decrementAndGet();
    replies.forEach(waiting -> ReferenceCountUtil.release(waiting.frame));
    replies.clear();
    session.gone();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, ClientFrame frame) {
    if (closing) {
      if (frame.kind() == ClientFrame.Kind.CLOSE) {
        ctx.close();
      }
      return;
    }
    switch (frame.kind()) {
      case MESSAGE -> session.message(frame.payload());
      case PING -> session.ping(frame.payload());
      case PONG -> LOG.debug("PONG that nobody asked for");
      case TEXT -> end(NOT_SUPPORTED, "text frames are not supported, QWP requires binary frames");
      case FRAGMENT -> end(PROTOCOL_ERROR, "fragmented WebSocket frames are not supported");
      case TOO_BIG -> end(TOO_BIG, "frame payload exceeds maximum size");
      case BROKEN -> end(NO_FRAME, null);
      case CLOSE -> {
        peerClosed = true;
        end(frame.answerTo(), null);
      }
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    session.endOfRead();
    ctx.fireChannelReadComplete();
  }

  /** Nothing was read for too long. A connection that the script does not listen to stays. */
  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
    if (event instanceof IdleStateEvent && !script.isSilent()) {
      ctx.close();
    } else {
      super.userEventTriggered(ctx, event);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // A reset needs no answer.
    LOG.debug("connection {} failed", ctx.channel().remoteAddress(), cause);
    ctx.close();
  }

  @Override
  public void reply(byte[] bytes, Tally acked) {
    BinaryWebSocketFrame frame = new BinaryWebSocketFrame(Unpooled.wrappedBuffer(bytes));
    context.executor().execute(() -> enqueue(frame, false, acked));
  }

  @Override
  public void pong(byte[] payload) {
    context
        .executor()
        .execute(
            () -> {
              WebSocketFrame pong = new PongWebSocketFrame(Unpooled.wrappedBuffer(payload));
              if (script.isSilent()) {
                enqueue(pong, false, Tally.NONE);
              } else {
                context.writeAndFlush(pong);
              }
            });
  }

  @Override
  public void close(int code, String reason) {
    context
        .executor()
        .execute(
            () ->
                enqueue(
                    code == NO_FRAME
                        ? Unpooled.EMPTY_BUFFER
                        : new CloseWebSocketFrame(true, 0, code, shortened(reason)),
                    true,
                    Tally.NONE));
  }

  @Override
  public void reset() {
    context
        .executor()
        .execute(
            () -> {
              context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
              // From the head: neither TLS nor WebSocket says a word.
              context.pipeline().firstContext().close();
            });
  }

  @Override
  public void reading(boolean on) {
    sessionReads = on;
    context.channel().config().setAutoRead(on && !script.isSilent());
  }

  /** A control frame holds 125 bytes, two of them the code. */
  private static String shortened(String reason) {
    return reason == null || ByteBufUtil.utf8Bytes(reason) <= MAX_REASON_BYTES
        ? reason
        : reason.substring(0, MAX_REASON_BYTES / 3);
  }

  private void end(int code, String reason) {
    closing = true;
    session.close(code, reason);
  }

  private void enqueue(Object frame, boolean last, Tally acked) {
    if (!context.channel().isActive()) {
      ReferenceCountUtil.release(frame);
      return;
    }
    long now = System.nanoTime();
    long due = now + TimeUnit.MILLISECONDS.toNanos(script.ackDelayMillis());
    // Never before the reply in front of it, also when the delay has become shorter.
    lastDueNanos = replies.isEmpty() ? due : Math.max(due, lastDueNanos);
    replies.add(new Waiting(lastDueNanos, frame, last, acked));
    if (lastDueNanos <= now) {
      sendDue();
    } else {
      context.executor().schedule(this::sendDue, lastDueNanos - now, TimeUnit.NANOSECONDS);
    }
  }

  private void sendDue() {
    boolean sent = false;
    while (!script.isSilent()
        && !replies.isEmpty()
        && replies.element().dueNanos - System.nanoTime() <= 0) {
      Waiting next = replies.remove();
      if (next.acked.messages() > 0) {
        session.acked(next.acked);
      }
      if (next.last) {
        sendLast(next.frame);
      } else {
        context.write(next.frame);
      }
      sent = true;
    }
    if (sent) {
      context.flush();
    }
  }

  /**
   * Nothing is sent any more. What the client sends is read for a while, because closing before it
   * has ended would reset the connection, and take the last replies with it.
   */
  private void sendLast(Object frame) {
    closing = true;
    context
        .write(frame)
        .addListener(
            written -> {
              if (peerClosed) {
                context.close();
              } else {
                ((DuplexChannel) context.channel()).shutdownOutput();
                context
                    .executor()
                    .schedule(() -> context.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
              }
            });
  }
}
