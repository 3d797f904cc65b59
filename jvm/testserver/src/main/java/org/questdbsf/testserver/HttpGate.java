package org.questdbsf.testserver;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every request of a connection that speaks HTTP: checks its credentials, then upgrades it, answers
 * it (control) or passes it on to the real server. One request at a time: the next is read when the
 * answer to the one before has been sent, and its body as fast as the real server takes it.
 */
final class HttpGate extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(HttpGate.class);
  private static final int MAX_CONTROL_BYTES = 1 << 20;
  private static final long SILENCE_CHECK_MILLIS = 20;

  private final PortContext port;
  private HttpRequest request;
  private ByteBuf body;
  private Backend backend;
  private Target target = Target.NONE;

  private enum Target {
    NONE,
    UPGRADE,
    CONTROL,
    BACKEND,
    /** Already answered; the rest of the request is read and forgotten. */
    ANSWERED
  }

  HttpGate(PortContext port) {
    this.port = port;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    ctx.read();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof HttpRequest head) {
      begin(ctx, head);
    }
    if (message instanceof HttpContent content) {
      take(ctx, content);
    } else {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    releaseBody();
    if (backend != null) {
      backend.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    LOG.debug("connection {} failed", ctx.channel().remoteAddress(), cause);
    ctx.close();
  }

  /** Decides by the head of a request; asks for its body unless the answer is final. */
  private void begin(ChannelHandlerContext ctx, HttpRequest head) {
    request = head;
    if (head.decoderResult().isFailure()) {
      answer(ctx, HttpReplies.text(400, head.decoderResult().cause() + "\n"));
      return;
    }
    String path = head.uri().split("[?#]", 2)[0];
    boolean upgrade = Upgrade.isPath(path);
    if (!port.credentials().admits(head.headers().get(HttpHeaderNames.AUTHORIZATION))) {
      if (upgrade) {
        port.counters().upgradesRefused.incrementAndGet();
      }
      answer(ctx, HttpReplies.text(401, "Unauthorized\n"));
      return;
    }
    if (HttpUtil.is100ContinueExpected(head)) {
      head.headers().remove(HttpHeaderNames.EXPECT);
      ctx.writeAndFlush(
          new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
    }
    if (upgrade || path.startsWith("/qwp/")) {
      target = upgrade ? Target.UPGRADE : Target.CONTROL;
      body = ctx.alloc().buffer();
      ctx.read();
    } else {
      whenHeard(ctx, () -> passOn(ctx));
    }
  }

  private void passOn(ChannelHandlerContext ctx) {
    int status = port.script().httpStatus();
    if (status != 0) {
      answer(ctx, HttpReplies.text(status, "refused by the script\n"));
      return;
    }
    target = Target.BACKEND;
    if (backend == null) {
      backend = new Backend(ctx, port.httpPort());
    }
    backend.send(request);
  }

  private void take(ChannelHandlerContext ctx, HttpContent content) {
    switch (target) {
      case BACKEND -> backend.send(content);
      case UPGRADE, CONTROL -> {
        body.writeBytes(content.content());
        content.release();
        if (body.readableBytes() > MAX_CONTROL_BYTES) {
          answer(ctx, HttpReplies.text(413, "body too long\n"));
        } else if (content instanceof LastHttpContent) {
          complete(ctx);
        } else {
          ctx.read();
        }
      }
      default -> {
        content.release();
        if (!(content instanceof LastHttpContent)) {
          ctx.read();
        }
      }
    }
  }

  private void complete(ChannelHandlerContext ctx) {
    String text = body.toString(StandardCharsets.UTF_8);
    releaseBody();
    if (target == Target.CONTROL) {
      answer(ctx, Control.answer(port, request, text));
      return;
    }
    target = Target.ANSWERED;
    long delay = port.script().upgradeDelayMillis();
    ctx.executor()
        .schedule(
            () -> whenHeard(ctx, () -> new Upgrade(port, ctx, request).run(r -> answer(ctx, r))),
            delay,
            TimeUnit.MILLISECONDS);
  }

  /** Runs the action at once, or, while the script is silent, when it no longer is. */
  private void whenHeard(ChannelHandlerContext ctx, Runnable action) {
    if (!ctx.channel().isActive()) {
      return;
    }
    if (port.script().isSilent()) {
      ctx.executor()
          .schedule(() -> whenHeard(ctx, action), SILENCE_CHECK_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      action.run();
    }
  }

  private void answer(ChannelHandlerContext ctx, FullHttpResponse response) {
    target = Target.ANSWERED;
    releaseBody();
    // A refused request may have a body that nobody wants to read: the connection ends with it.
    boolean keep = response.status().code() == 200 && HttpUtil.isKeepAlive(request);
    HttpUtil.setKeepAlive(response, keep);
    ctx.writeAndFlush(response)
        .addListener(
            written -> {
              if (keep) {
                ctx.read();
              } else {
                ctx.close();
              }
            });
  }

  private void releaseBody() {
    if (body != null) {
      body.release();
      body = null;
    }
  }
}
