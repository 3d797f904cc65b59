package org.questdbsf.testserver;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;

/** One listening port. TLS, if any, ends here; then {@link HttpGate}. */
final class Front implements AutoCloseable {
  /** SQL comes in the request line. */
  static final int MAX_LINE_BYTES = 1 << 20;

  static final int MAX_HEADER_BYTES = 64 << 10;
  static final int CHUNK_BYTES = 64 << 10;

  private final Channel listener;
  private final ChannelGroup connections;

  private Front(Channel listener, ChannelGroup connections) {
    this.listener = listener;
    this.connections = connections;
  }

  /** Listens; {@link IllegalStateException} if the port is taken. */
  static Front listen(String host, int port, EventLoopGroup loops, PortContext context) {
    ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, 256)
            .childOption(ChannelOption.TCP_NODELAY, true)
            // HttpGate asks for one piece after the other; QwpHandler turns it on.
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    connections.add(channel);
                    ChannelPipeline pipeline = channel.pipeline();
                    if (context.tls() != null) {
                      pipeline.addLast(context.tls().newHandler(channel.alloc()));
                    }
                    pipeline
                        .addLast(new HttpServerCodec(MAX_LINE_BYTES, MAX_HEADER_BYTES, CHUNK_BYTES))
                        .addLast(new FlowControlHandler())
                        .addLast(new HttpGate(context));
                  }
                })
            .bind(host, port)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IllegalStateException("cannot listen on " + host + ":" + port, bound.cause());
    }
    return new Front(bound.channel(), connections);
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /** Stops listening and ends all connections. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    connections.close().awaitUninterruptibly();
  }
}
