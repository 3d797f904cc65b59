package org.questdbsf.testserver;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.websocketx.WebSocketFrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.timeout.IdleStateHandler;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** One WebSocket upgrade: refused, or turned into a {@link Session} (client spec, handshake). */
final class Upgrade {
  private static final int KEY_CHARS = 24;
  private static final Pattern PATH = Pattern.compile("/+(write/v4|api/v4/write)");

  private final PortContext port;
  private final ChannelHandlerContext ctx;
  private final HttpRequest request;

  Upgrade(PortContext port, ChannelHandlerContext ctx, HttpRequest request) {
    this.port = port;
    this.ctx = ctx;
    this.request = request;
  }

  static boolean isPath(String path) {
    return PATH.matcher(path).matches();
  }

  /** Upgrades, or hands the refusal to be sent. */
  void run(Consumer<FullHttpResponse> refuse) {
    FullHttpResponse refusal = refusal();
    if (refusal == null) {
      accept();
    } else {
      port.counters().upgradesRefused.incrementAndGet();
      refuse.accept(refusal);
    }
  }

  private FullHttpResponse refusal() {
    HttpHeaders headers = request.headers();
    int scripted = port.script().refuseUpgrade();
    if (scripted != 0) {
      FullHttpResponse response = HttpReplies.text(scripted, "refused by the script\n");
      if (scripted == 421 && port.script().role() != null) {
        response.headers().set("X-QuestDB-Role", port.script().role());
      }
      port.script().refuseHeaders().forEach((name, value) -> response.headers().set(name, value));
      return response;
    }
    HttpMethod method = request.method();
    if (!method.equals(HttpMethod.GET)) {
      boolean unmeasured =
          (method.equals(HttpMethod.POST) || method.equals(HttpMethod.PUT))
              && !headers.contains(HttpHeaderNames.CONTENT_LENGTH);
      return unmeasured
          ? HttpReplies.text(400, "Content-length not specified for POST/PUT request\n")
          : HttpReplies.text(405, "Method " + method + " not supported\n");
    }
    if (headers.contains(HttpHeaderNames.ORIGIN)) {
      return HttpReplies.text(400, "Origin header not allowed on QWP WebSocket\n");
    }
    if (!"websocket".equalsIgnoreCase(headers.get(HttpHeaderNames.UPGRADE))) {
      return HttpReplies.text(400, "Missing Upgrade header\n");
    }
    if (!headers.containsValue(HttpHeaderNames.CONNECTION, "upgrade", true)) {
      return HttpReplies.text(400, "Missing Connection header\n");
    }
    if (!"13".equals(headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION))) {
      FullHttpResponse response = HttpReplies.text(426, "WebSocket version 13 is spoken\n");
      response.headers().set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13");
      return response;
    }
    if (!isKey(headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY))) {
      return HttpReplies.text(400, "Invalid Sec-WebSocket-Key (must be 24-character base64 key)\n");
    }
    return null;
  }

  private static boolean isKey(String key) {
    if (key == null || key.length() != KEY_CHARS) {
      return false;
    }
    try {
      Base64.getDecoder().decode(key);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private void accept() {
    Script script = port.script();
    boolean durable =
        script.durableAcksGranted()
            && "true".equalsIgnoreCase(request.headers().get("X-QWP-Request-Durable-Ack"));
    HttpHeaders answer = new DefaultHttpHeaders();
    answer.set("X-QWP-Version", "1");
    if (script.maxBatchAdvertised()) {
      answer.set("X-QWP-Max-Batch-Size", Integer.toString(script.maxBatchBytes()));
    }
    if (script.role() != null) {
      answer.set("X-QuestDB-Role", script.role());
    }
    if (durable) {
      answer.set("X-QWP-Durable-Ack", "enabled");
    }
    WebSocketServerHandshaker13 handshaker =
        new WebSocketServerHandshaker13("", null, false, script.maxBatchBytes()) {
          @Override
          protected WebSocketFrameDecoder newWebsocketDecoder() {
            return new FrameDecoder(script::maxBatchBytes);
          }
        };
    FullHttpRequest full =
        new DefaultFullHttpRequest(
            request.protocolVersion(), request.method(), request.uri(), ctx.alloc().buffer(0));
    full.headers().set(request.headers());
    handshaker
        .handshake(ctx.channel(), full, answer, ctx.newPromise())
        .addListener(
            done -> {
              full.release();
              if (done.isSuccess()) {
                speakQwp(durable);
              } else {
                ctx.close();
              }
            });
  }

  private void speakQwp(boolean durable) {
    ChannelPipeline pipeline = ctx.pipeline();
    QwpHandler handler =
        new QwpHandler(
            port.script(),
            port.counters(),
            output ->
                new Session(
                    port.script(),
                    port.counters(),
                    port.executor(),
                    output,
                    new ConnectionTables(port.engine(), port.script().maxTables()),
                    durable));
    long idleMillis = port.script().idleTimeoutMillis();
    pipeline.addFirst(new IdleStateHandler(idleMillis, 0, 0, TimeUnit.MILLISECONDS));
    pipeline.addLast(handler);
    pipeline.remove(HttpGate.class);
    pipeline.remove(FlowControlHandler.class);
    if (!ctx.channel().isActive()) {
      handler.channelInactive(pipeline.context(handler));
    }
  }
}
