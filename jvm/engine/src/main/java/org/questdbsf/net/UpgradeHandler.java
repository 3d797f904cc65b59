package org.questdbsf.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakerFactory;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import java.net.URI;

/**
 * The upgrade from HTTP to the WebSocket protocol, and what its answer means (specification,
 * sections on handshake and failure classes).
 */
final class UpgradeHandler extends HttpExchange<QwpConnection> {
  private static final int MAX_VERSION = 1;
  private static final int MAX_BODY_BYTES = 4096;

  /** 10,000 tables with long names in one acknowledgement, and room. */
  private static final int MAX_REPLY_BYTES = 4 << 20;

  /** The host is not taken from here: names that java.net.URI refuses must work too. */
  private static final URI PATH = URI.create("ws://host/write/v4");

  private final Endpoint endpoint;
  private final boolean durableAckAsked;
  private final ConnectionEvents events;
  private final ForeignText foreign;
  private final WebSocketClientHandshaker handshaker;

  UpgradeHandler(
      Endpoint endpoint, ConnectSettings settings, String authorization, ConnectionEvents events) {
    this(endpoint, settings, authorization, events, ForeignText.of(authorization));
  }

  private UpgradeHandler(
      Endpoint endpoint,
      ConnectSettings settings,
      String authorization,
      ConnectionEvents events,
      ForeignText foreign) {
    super(settings.tls(), settings.authTimeoutMillis(), MAX_BODY_BYTES, foreign);
    this.foreign = foreign;
    this.endpoint = endpoint;
    this.durableAckAsked = settings.requestDurableAck();
    this.events = events;
    // the overload that can leave Origin out: a server answers 400 to one it was not told of
    this.handshaker =
        WebSocketClientHandshakerFactory.newHandshaker(
            PATH,
            WebSocketVersion.V13,
            null,
            false,
            headers(endpoint, settings, authorization),
            MAX_REPLY_BYTES,
            true,
            false,
            10_000,
            false,
            false);
  }

  private static HttpHeaders headers(
      Endpoint endpoint, ConnectSettings settings, String authorization) {
    HttpHeaders headers = new DefaultHttpHeaders();
    headers.set(HttpHeaderNames.HOST, endpoint.toString());
    headers.set("X-QWP-Max-Version", MAX_VERSION);
    headers.set("X-QWP-Client-Id", settings.clientId());
    if (settings.requestDurableAck()) {
      headers.set("X-QWP-Request-Durable-Ack", "true");
    }
    if (authorization != null) {
      headers.set(HttpHeaderNames.AUTHORIZATION, authorization);
    }
    return headers;
  }

  @Override
  void begin(ChannelHandlerContext ctx) {
    handshaker
        .handshake(ctx.channel())
        .addListener(
            sent -> {
              if (!sent.isSuccess() && !isOver()) {
                failBy(sent.cause());
              }
            });
  }

  @Override
  boolean decidedByHead(HttpResponse response) {
    // without the accept header Netty's codec waits for the body of a pre-standard handshake
    return response.status().code() == 101
        && !response.headers().contains(HttpHeaderNames.SEC_WEBSOCKET_ACCEPT);
  }

  @Override
  void answered(ChannelHandlerContext ctx, Answer answer) {
    if (answer.status().code() == 101) {
      upgraded(ctx, answer);
    } else {
      fail(refused(answer));
    }
  }

  private void upgraded(ChannelHandlerContext ctx, Answer answer) {
    HttpHeaders headers = answer.headers();
    String version = headers.get("X-QWP-Version");
    boolean durableAck = "enabled".equalsIgnoreCase(headers.get("X-QWP-Durable-Ack"));
    try {
      finishHandshake(ctx, answer);
    } catch (WebSocketHandshakeException e) {
      String why = clean(e.getMessage());
      fail(failure("the answer 101 is not a WebSocket upgrade: " + why, null));
      return;
    }
    if (!isVersionKnown(version)) {
      String what =
          "the server answers with QWP version " + clean(version) + ", this client speaks 1";
      fail(failure(ConnectFailure.Kind.VERSION, 101, what, null));
    } else if (durableAckAsked && !durableAck) {
      String what =
          "the server does not grant durable acknowledgements (request_durable_ack); only"
              + " replicating servers of QuestDB Enterprise do";
      fail(failure(ConnectFailure.Kind.DURABLE_NOT_GRANTED, 101, what, null));
    } else {
      QwpConnection connection =
          new QwpConnection(
              ctx.channel(),
              endpoint,
              batchBytes(headers.get("X-QWP-Max-Batch-Size")),
              durableAckAsked,
              role(headers));
      FrameHandler frames = new FrameHandler(connection, events, foreign);
      connection.handledBy(frames);
      // In place before the caller can send: what it sends has to pass them.
      ctx.pipeline()
          .addBefore(ctx.name(), "fragments", new WebSocketFrameAggregator(MAX_REPLY_BYTES))
          .addBefore(ctx.name(), "frames", frames);
      ctx.pipeline().remove(succeed(connection) ? this : frames);
    }
  }

  private void finishHandshake(ChannelHandlerContext ctx, Answer answer) {
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, answer.status());
    response.headers().set(answer.headers());
    handshaker.finishHandshake(ctx.channel(), response);
  }

  private static boolean isVersionKnown(String version) {
    if (version == null) {
      return true; // means 1
    }
    try {
      int v = Integer.parseInt(version.trim());
      return v >= 1 && v <= MAX_VERSION;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static int batchBytes(String header) {
    if (header == null) {
      return 0;
    }
    try {
      return (int) Math.max(0, Math.min(Integer.MAX_VALUE, Long.parseLong(header.trim())));
    } catch (NumberFormatException e) {
      return 0; // an unreadable cap is an unknown cap
    }
  }

  private String role(HttpHeaders headers) {
    return clean(headers.get("X-QuestDB-Role", "")).trim();
  }

  private ConnectFailure refused(Answer answer) {
    int status = answer.status().code();
    String role = role(answer.headers());
    String text = excerpt(answer);
    String said =
        "the server refused the upgrade with HTTP "
            + clean(answer.status().toString())
            + (role.isEmpty() ? "" : ", role " + role)
            + (text.isEmpty() ? "" : ": " + text);
    if (status == 401 || status == 403) {
      String hint = "; check username and password, or token";
      return failure(ConnectFailure.Kind.AUTH, status, said + hint, null);
    }
    if (status == 421 && !role.isEmpty()) {
      boolean soon = role.equalsIgnoreCase("PRIMARY_CATCHUP");
      return failure(
          soon ? ConnectFailure.Kind.ROLE_TRANSIENT : ConnectFailure.Kind.ROLE_TOPOLOGY,
          status,
          said,
          null);
    }
    String hint = status == 404 ? "; QWP needs QuestDB 10 or newer" : "";
    return failure(ConnectFailure.Kind.TRANSPORT, status, said + hint, null);
  }

  private ConnectFailure failure(
      ConnectFailure.Kind kind, int status, String what, Throwable cause) {
    return new ConnectFailure(
        kind, endpoint, status, "cannot use " + endpoint + ": " + what, cause);
  }

  @Override
  ConnectFailure failure(String what, Throwable cause) {
    return failure(ConnectFailure.Kind.TRANSPORT, 0, what, cause);
  }
}
