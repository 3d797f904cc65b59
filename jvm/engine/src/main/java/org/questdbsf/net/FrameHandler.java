package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The WebSocket after the upgrade: replies to events, PING to PONG, CLOSE to its echo, and the
 * order in which all of it ends. Everything here runs on the connection's event loop.
 */
final class FrameHandler extends ChannelDuplexHandler {
  /** How long an echo or a last word may take to leave before the connection is reset. */
  private static final long FAREWELL_MILLIS = 2000;

  /** More PONGs than this do not wait for the socket; a peer needs the newest only. */
  private static final int MAX_PONGS = 16;

  private final QwpConnection connection;
  private final ConnectionEvents events;
  private final ForeignText foreign;
  private final ChannelFutureListener written = this::onWritten;
  private final ChannelFutureListener messageWritten = this::onMessageWritten;
  private ChannelHandlerContext context;
  private ScheduledFuture<?> resetTimer;
  private int pongs;
  private long messages; // that the transport took
  private boolean closeSent;
  private CloseInfo serverClose;
  private Throwable failure;
  private boolean ended;

  FrameHandler(QwpConnection connection, ConnectionEvents events, ForeignText foreign) {
    this.connection = connection;
    this.events = events;
    this.foreign = foreign;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    try {
      if (ended) {
        return;
      }
      if (message instanceof BinaryWebSocketFrame frame) {
        if (failure == null) {
          onBinary(frame);
        }
      } else if (message instanceof PingWebSocketFrame frame) {
        answer(frame);
      } else if (message instanceof CloseWebSocketFrame frame) {
        onClose(frame);
      } else if (message instanceof TextWebSocketFrame) {
        giveUp(1003, new MalformedReplyException("a text frame, where replies are binary"));
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void onBinary(BinaryWebSocketFrame frame) {
    int bytes = frame.content().readableBytes();
    ServerReply reply;
    try {
      reply = clean(ReplyDecoder.decode(frame.content()));
      checkSent(reply);
    } catch (MalformedReplyException e) {
      giveUp(1002, e);
      return;
    }
    connection.replyCame(bytes);
    events.onReply(reply, bytes);
  }

  private ServerReply clean(ServerReply reply) {
    return reply instanceof ServerReply.Nack nack
        ? new ServerReply.Nack(
            nack.status(), nack.sequence(), nack.words(), foreign.clean(nack.words()))
        : reply;
  }

  /** A server cannot answer what has not left yet. */
  private void checkSent(ServerReply reply) throws MalformedReplyException {
    long sequence = -1;
    if (reply instanceof ServerReply.Ok ok) {
      sequence = ok.sequence();
    } else if (reply instanceof ServerReply.Nack nack) {
      sequence = nack.sequence();
    }
    if (sequence >= messages) {
      throw new MalformedReplyException(
          "an answer to message " + sequence + " where " + messages + " were sent, counted from 0");
    }
  }

  private void answer(PingWebSocketFrame ping) {
    if (closeSent || pongs >= MAX_PONGS) {
      return;
    }
    pongs++;
    context
        .writeAndFlush(new PongWebSocketFrame(ping.content().retain()))
        .addListener(sent -> pongs--);
  }

  private void onClose(CloseWebSocketFrame frame) {
    if (failure == null) { // else it is the answer to our complaint, and that is the cause
      serverClose = CloseInfo.ofFrame(frame.statusCode(), foreign.clean(frame.reasonText()));
    }
    connection.closing();
    if (closeSent) {
      context.close();
    } else {
      sayGoodbye(frame.retainedDuplicate());
    }
  }

  /** Something is wrong with what the server sent: say so, and end. */
  private void giveUp(int closeCode, MalformedReplyException cause) {
    failure = cause;
    connection.closing();
    if (closeSent) {
      Channels.reset(context.channel());
    } else {
      sayGoodbye(new CloseWebSocketFrame(closeCode, ""));
    }
  }

  private void sayGoodbye(CloseWebSocketFrame last) {
    closeSent = true;
    context.writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
    resetIn(FAREWELL_MILLIS);
  }

  /** Our own close: a close frame, then up to so long for late replies and the echo. */
  void beginClose(long waitMillis) {
    if (ended) {
      return;
    }
    if (!closeSent) {
      closeSent = true;
      context.writeAndFlush(new CloseWebSocketFrame(1000, ""));
    }
    resetIn(waitMillis);
  }

  private void resetIn(long millis) {
    cancelReset();
    if (millis <= 0) {
      Channels.reset(context.channel());
    } else {
      resetTimer =
          context
              .executor()
              .schedule(() -> Channels.reset(context.channel()), millis, TimeUnit.MILLISECONDS);
    }
  }

  private void cancelReset() {
    if (resetTimer != null) {
      resetTimer.cancel(false);
      resetTimer = null;
    }
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (closeSent) {
      ReferenceCountUtil.release(message); // nothing may follow a close frame
      promise.tryFailure(new ClosedChannelException());
      return;
    }
    ctx.write(message, promise.unvoid())
        .addListener(message instanceof ByteBuf ? messageWritten : written);
  }

  private void onMessageWritten(ChannelFuture message) {
    if (message.isSuccess()) {
      messages++;
    }
    onWritten(message);
  }

  private void onWritten(ChannelFuture written) {
    Throwable cause = written.cause();
    if (cause != null && failure == null && !(cause instanceof ClosedChannelException)) {
      failure = cause;
      Channels.reset(context.channel());
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (!ended && ctx.channel().isWritable()) {
      events.onWritable();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (failure == null) {
      failure = Channels.root(cause);
    }
    Channels.reset(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (ended) {
      return;
    }
    ended = true;
    cancelReset();
    connection.closing();
    try {
      events.onClosed(closeInfo());
    } finally {
      connection.ended();
    }
  }

  private CloseInfo closeInfo() {
    if (serverClose != null) {
      return serverClose;
    }
    if (failure != null) {
      return CloseInfo.withoutFrame(Channels.describe(failure), failure);
    }
    if (connection.wasReset()) {
      return CloseInfo.withoutFrame("reset by this client", null);
    }
    return CloseInfo.withoutFrame(
        closeSent
            ? "the server did not answer the close frame"
            : "the server closed the TCP connection without a close frame",
        null);
  }
}
