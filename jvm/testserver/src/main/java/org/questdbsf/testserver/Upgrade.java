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
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import io.netty.handler.flow.FlowControlHandler;
import java.util.function.Consumer;

/** One WebSocket upgrade: refused, or turned into a {@link Session} (client spec, handshake). */
final class Upgrade {
  private static final int KEY_CHARS = 24;

  /** Above every cap, so that a message over the cap is counted out in words, not by the codec. */
  private static final int MAX_FRAME_BYTES = 64 << 20;

  private final PortContext port;
  private final ChannelHandlerContext ctx;
  private final HttpRequest request;

  Upgrade(PortContext port, ChannelHandlerContext ctx, HttpRequest request) {
    this.port = port;
    this.ctx = ctx;
    this.request = request;
  }

  static boolean isPath(String path) {
    return path.equals("/write/v4") || path.equals("/api/v4/write");
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
    if (!request.method().equals(HttpMethod.GET)) {
      return HttpReplies.text(405, "the upgrade is a GET\n");
    }
    if (headers.contains(HttpHeaderNames.ORIGIN)) {
      return HttpReplies.text(400, "the origin is not allowed\n");
    }
    if (!headers.containsValue(HttpHeaderNames.CONNECTION, "upgrade", true)
        || !"websocket".equalsIgnoreCase(headers.get(HttpHeaderNames.UPGRADE))) {
      return HttpReplies.text(400, "not a WebSocket upgrade\n");
    }
    if (!"13".equals(headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION))) {
      FullHttpResponse response = HttpReplies.text(426, "WebSocket version 13 is spoken\n");
      response.headers().set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13");
      return response;
    }
    String key = headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY);
    if (key == null || key.length() != KEY_CHARS) {
      return HttpReplies.text(400, "Sec-WebSocket-Key: 24 characters are needed\n");
    }
    return null;
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
        new WebSocketServerHandshaker13(
            "",
            null,
            WebSocketDecoderConfig.newBuilder()
                .maxFramePayloadLength(MAX_FRAME_BYTES)
                .expectMaskedFrames(true)
                .allowMaskMismatch(false)
                .withUTF8Validator(false)
                .build());
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
                    new ConnectionTables(port.engine(), ConnectionTables.MAX_TABLES),
                    durable));
    pipeline.addLast(handler);
    pipeline.remove(HttpGate.class);
    pipeline.remove(FlowControlHandler.class);
    if (!ctx.channel().isActive()) {
      handler.channelInactive(pipeline.context(handler));
    }
  }
}
