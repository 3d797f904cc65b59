package org.questdbsf.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringEncoder;

/** The request of {@link SqlOverHttp}; its result is the raw answer. */
final class SqlExchange extends HttpExchange<HttpExchange.Answer> {
  /** The answers asked for are lists of tables and columns. */
  static final int MAX_BODY_BYTES = 16 << 20;

  private final Endpoint endpoint;
  private final String authorization;
  private final String sql;
  private final String clientId;
  private final boolean keep;

  /**
   * @param keep whether the connection is to be kept for another exchange, where the server does
   *     too: with a {@link ParkedHandler} in the place of this one
   */
  SqlExchange(
      Endpoint endpoint,
      ConnectSettings settings,
      String authorization,
      String sql,
      ForeignText foreign,
      boolean keep) {
    super(settings.tls(), settings.authTimeoutMillis(), MAX_BODY_BYTES, foreign);
    this.endpoint = endpoint;
    this.authorization = authorization;
    this.sql = sql;
    this.clientId = settings.clientId();
    this.keep = keep;
  }

  @Override
  void begin(ChannelHandlerContext ctx) {
    QueryStringEncoder uri = new QueryStringEncoder("/exec");
    uri.addParam("query", sql);
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri.toString());
    request.headers().set(HttpHeaderNames.HOST, endpoint.toString());
    request
        .headers()
        .set(
            HttpHeaderNames.CONNECTION,
            keep ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
    request.headers().set(HttpHeaderNames.ACCEPT, HttpHeaderValues.APPLICATION_JSON);
    request.headers().set(HttpHeaderNames.USER_AGENT, clientId);
    if (authorization != null) {
      request.headers().set(HttpHeaderNames.AUTHORIZATION, authorization);
    }
    ctx.writeAndFlush(request)
        .addListener(
            sent -> {
              if (!sent.isSuccess() && !isOver()) {
                failBy(sent.cause());
              }
            });
  }

  @Override
  boolean decidedByHead(HttpResponse response) {
    return response.status().code() == 101;
  }

  @Override
  void answered(ChannelHandlerContext ctx, Answer answer) {
    if (keep && answer.complete() && keepsAlive()) {
      ctx.pipeline().replace(this, ParkedHandler.NAME, new ParkedHandler());
      succeed(answer);
    } else {
      succeed(answer);
      ctx.close();
    }
  }

  @Override
  SqlFailure failure(String what, Throwable cause) {
    return new SqlFailure(0, null, null, -1, "cannot ask " + endpoint + " by SQL: " + what, cause);
  }
}
