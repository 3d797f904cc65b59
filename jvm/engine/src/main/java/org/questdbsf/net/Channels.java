package org.questdbsf.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.DecoderException;
import java.util.concurrent.ExecutionException;

/** Small things done to channels and their failures. */
final class Channels {
  private Channels() {}

  /** Closes with RST and without a TLS good-bye, dropping what waits to be sent. Any thread. */
  static void reset(Channel channel) {
    if (!channel.eventLoop().inEventLoop()) {
      channel.eventLoop().execute(() -> reset(channel));
      return;
    }
    if (!channel.isOpen()) {
      return;
    }
    try {
      ((SocketChannel) channel).config().setSoLinger(0);
    } catch (ChannelException e) {
      // The socket is shut already, so there is nothing left to reset: closing is all there is.
      channel.pipeline().firstContext().close();
      return;
    }
    // from the first context: SslHandler would wait for its close_notify to be flushed
    channel.pipeline().firstContext().close();
  }

  /** The failure beneath the wrappers that Netty and futures put around it. */
  static Throwable root(Throwable t) {
    Throwable cause = t;
    while ((cause instanceof DecoderException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** What a failure says, for people. */
  static String describe(Throwable t) {
    Throwable cause = root(t);
    String message = cause.getMessage();
    return message == null || message.isEmpty() ? cause.getClass().getSimpleName() : message;
  }
}
