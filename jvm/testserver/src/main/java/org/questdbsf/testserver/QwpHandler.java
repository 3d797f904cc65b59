package org.questdbsf.testserver;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
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
final class QwpHandler extends SimpleChannelInboundHandler<WebSocketFrame>
    implements SessionOutput {
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
  private volatile boolean sessionReads = true;

  /** A frame to send, when, and what it acknowledges. */
  private record Waiting(long dueNanos, WebSocketFrame frame, Tally acked) {}

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
    replies.forEach(waiting -> waiting.frame.release());
    replies.clear();
    session.gone();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
    if (frame instanceof CloseWebSocketFrame close) {
      if (closing) {
        ctx.close();
      } else {
        end(close.statusCode(), null);
      }
    } else if (closing) {
      LOG.debug("frame after close");
    } else if (frame instanceof PingWebSocketFrame) {
      session.ping(ByteBufUtil.getBytes(frame.content()));
    } else if (frame instanceof TextWebSocketFrame) {
      end(NOT_SUPPORTED, "text frame");
    } else if (frame instanceof ContinuationWebSocketFrame || !frame.isFinalFragment()) {
      end(PROTOCOL_ERROR, "fragmented message");
    } else if (frame instanceof BinaryWebSocketFrame) {
      int bytes = frame.content().readableBytes();
      int cap = script.maxBatchBytes();
      if (bytes > cap) {
        end(TOO_BIG, "message of " + bytes + " bytes, the cap is " + cap);
      } else {
        session.message(ByteBufUtil.getBytes(frame.content()));
      }
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // The frame decoder has sent its close frame already; a reset needs no answer.
    LOG.debug("connection {} failed", ctx.channel().remoteAddress(), cause);
    ctx.close();
  }

  @Override
  public void reply(byte[] bytes, Tally acked) {
    BinaryWebSocketFrame frame = new BinaryWebSocketFrame(Unpooled.wrappedBuffer(bytes));
    context.executor().execute(() -> enqueue(frame, acked));
  }

  @Override
  public void pong(byte[] payload) {
    context
        .executor()
        .execute(
            () -> {
              WebSocketFrame pong = new PongWebSocketFrame(Unpooled.wrappedBuffer(payload));
              if (script.isSilent()) {
                enqueue(pong, Tally.NONE);
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
                    code < 0
                        ? new CloseWebSocketFrame()
                        : new CloseWebSocketFrame(true, 0, code, shortened(reason)),
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

  private void enqueue(WebSocketFrame frame, Tally acked) {
    if (!context.channel().isActive()) {
      frame.release();
      return;
    }
    long now = System.nanoTime();
    long due = now + TimeUnit.MILLISECONDS.toNanos(script.ackDelayMillis());
    // Never before the reply in front of it, also when the delay has become shorter.
    lastDueNanos = replies.isEmpty() ? due : Math.max(due, lastDueNanos);
    replies.add(new Waiting(lastDueNanos, frame, acked));
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
      if (next.frame instanceof CloseWebSocketFrame) {
        sendClose(next.frame);
      } else {
        context.write(next.frame);
      }
      sent = true;
    }
    if (sent) {
      context.flush();
    }
  }

  /** After our close frame the peer's is awaited; closing before it would reset the connection. */
  private void sendClose(WebSocketFrame frame) {
    boolean answered = closing;
    closing = true;
    context
        .write(frame)
        .addListener(
            written -> {
              if (answered) {
                context.close();
              } else {
                context
                    .executor()
                    .schedule(() -> context.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
              }
            });
  }
}
