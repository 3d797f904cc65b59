package org.questdbsf.testserver;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to the real server that belongs to one client connection. Requests and responses
 * go through piece by piece, never faster than the other side takes them. On the client's event
 * loop.
 */
final class Backend extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(Backend.class);

  private final ChannelHandlerContext client;
  private final ChannelFuture connected;
  private boolean head;
  private boolean keepClient;
  private boolean released;

  Backend(ChannelHandlerContext client, int port) {
    this.client = client;
    this.connected =
        new Bootstrap()
            .group(client.channel().eventLoop())
            .channel(NioSocketChannel.class)
            .option(ChannelOption.AUTO_READ, false)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpClientCodec(
                                Front.MAX_LINE_BYTES, Front.MAX_HEADER_BYTES, Front.CHUNK_BYTES))
                        .addLast(Backend.this);
                  }
                })
            .connect("127.0.0.1", port);
  }

  /** Passes on a piece of a request; asks the client for the next one when it is sent. */
  void send(HttpObject piece) {
    if (piece instanceof HttpRequest request) {
      head = request.method().equals(HttpMethod.HEAD);
      keepClient = HttpUtil.isKeepAlive(request);
    }
    boolean last = piece instanceof LastHttpContent;
    connected.addListener(
        done -> {
          if (!done.isSuccess()) {
            ReferenceCountUtil.release(piece);
            client.close();
            return;
          }
          channel()
              .writeAndFlush(piece)
              .addListener(
                  sent -> {
                    if (!sent.isSuccess()) {
                      client.close();
                    } else if (last) {
                      channel().read();
                    } else {
                      client.read();
                    }
                  });
        });
  }

  /** The client is gone, or speaks WebSocket from now on. */
  void close() {
    released = true;
    connected.addListener(done -> channel().close());
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object piece) {
    if (piece instanceof HttpResponse response && response.status().code() >= 200) {
      boolean framed =
          head
              || HttpUtil.isContentLengthSet(response)
              || HttpUtil.isTransferEncodingChunked(response)
              || response.status().code() == 204
              || response.status().code() == 304;
      keepClient &= framed && HttpUtil.isKeepAlive(response);
    }
    boolean last = piece instanceof LastHttpContent;
    client
        .writeAndFlush(piece)
        .addListener(
            sent -> {
              if (!sent.isSuccess() || last && !keepClient) {
                client.close();
              } else if (last) {
                client.read();
              } else {
                ctx.read();
              }
            });
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (!released) {
      client.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    LOG.debug("connection to the real server failed", cause);
    ctx.close();
  }

  private Channel channel() {
    return connected.channel();
  }
}
