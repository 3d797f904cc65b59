package org.questdbsf.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** From an endpoint to a TCP connection on which an {@link HttpExchange} has begun. */
final class Dialer {
  /** A few frames of the usual 1 MiB: enough to keep the socket busy, little to hold per lane. */
  private static final WriteBufferWaterMark WATER_MARKS =
      new WriteBufferWaterMark(2 << 20, 4 << 20);

  private static final int MAX_WRITES_PER_FLUSH = 64;

  private Dialer() {}

  /**
   * Looks the host up and tries its addresses in turn, all within the connect time-out.
   *
   * @param exchanges makes the exchange, one for each address tried
   * @return the exchange whose connection stands; TLS and HTTP are its business
   */
  static <X extends HttpExchange<?>> X dial(
      Endpoint endpoint, ConnectSettings settings, Supplier<X> exchanges)
      throws ConnectFailure, InterruptedException {
    SslContext tls = settings.tls() ? tls(endpoint, settings.tlsSettings()) : null;
    int timeout = settings.connectTimeoutMillis();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
    InetAddress[] addresses = lookup(endpoint, timeout);
    Throwable cause = null;
    for (int i = 0; i < addresses.length; i++) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      int share = (int) Math.max(1, left / (addresses.length - i));
      X exchange = exchanges.get();
      Bootstrap bootstrap = bootstrap(endpoint, settings, tls, exchange, share);
      ChannelFuture connected =
          bootstrap.connect(new InetSocketAddress(addresses[i], endpoint.port()));
      awaitConnected(connected, exchange);
      if (connected.isSuccess()) {
        return exchange;
      }
      cause = connected.cause();
    }
    throw ConnectFailure.transport(
        endpoint, "cannot connect to " + endpoint + ": " + Channels.describe(cause), cause);
  }

  private static void awaitConnected(ChannelFuture connected, HttpExchange<?> exchange)
      throws InterruptedException {
    try {
      connected.await(); // bounded by CONNECT_TIMEOUT_MILLIS
    } catch (InterruptedException e) {
      // it may have connected meanwhile, and gone on to a result that others know of
      if (exchange.abandon()) {
        connected.channel().close();
        throw e;
      }
      Thread.currentThread().interrupt();
    }
  }

  private static SslContext tls(Endpoint endpoint, TlsSettings settings) throws ConnectFailure {
    try {
      return TlsContexts.build(settings);
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw ConnectFailure.transport(
          endpoint,
          "cannot prepare TLS for "
              + endpoint
              + ", "
              + (settings.roots() == null ? "system roots" : "tls_roots " + settings.roots())
              + ": "
              + Channels.describe(e),
          e);
    }
  }

  private static InetAddress[] lookup(Endpoint endpoint, int timeout)
      throws ConnectFailure, InterruptedException {
    String host = endpoint.host();
    try {
      return HostLookup.lookup(host, timeout);
    } catch (UnknownHostException e) {
      throw ConnectFailure.transport(
          endpoint, "cannot connect to " + endpoint + ": unknown host " + host, e);
    } catch (TimeoutException e) {
      throw ConnectFailure.transport(
          endpoint,
          "cannot connect to " + endpoint + ": no answer to the name look-up in " + timeout + " ms",
          e);
    }
  }

  private static Bootstrap bootstrap(
      Endpoint endpoint,
      ConnectSettings settings,
      SslContext tls,
      HttpExchange<?> exchange,
      int connectMillis) {
    return new Bootstrap()
        .group(EventLoops.shared())
        .channel(NioSocketChannel.class)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMillis)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.SO_KEEPALIVE, true)
        .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                ChannelPipeline pipeline = channel.pipeline();
                if (tls != null) {
                  pipeline.addLast(
                      "tls",
                      TlsContexts.newHandler(
                          tls, channel.alloc(), endpoint, settings.tlsSettings().verify()));
                }
                pipeline.addLast(
                    "flush", new FlushConsolidationHandler(MAX_WRITES_PER_FLUSH, true));
                pipeline.addLast("http", new HttpClientCodec());
                pipeline.addLast("exchange", exchange);
              }
            });
  }
}
