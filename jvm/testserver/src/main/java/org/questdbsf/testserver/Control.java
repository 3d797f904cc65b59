package org.questdbsf.testserver;

import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Map;

/** {@code GET /qwp/counters} and {@code POST /qwp/script}. */
final class Control {
  private Control() {}

  static FullHttpResponse answer(PortContext port, HttpRequest request, String body) {
    String path = request.uri().split("[?#]", 2)[0];
    if (path.equals("/qwp/counters") && request.method().equals(HttpMethod.GET)) {
      return HttpReplies.json(200, port.total().get());
    }
    if (path.equals("/qwp/script") && request.method().equals(HttpMethod.POST)) {
      try {
        port.script().apply(body);
        return HttpReplies.json(200, Map.of("ok", true));
      } catch (IllegalArgumentException | ArithmeticException e) {
        return HttpReplies.json(400, Map.of("error", String.valueOf(e.getMessage())));
      }
    }
    return HttpReplies.json(
        404, Map.of("error", "there are only GET /qwp/counters and POST /qwp/script"));
  }
}
