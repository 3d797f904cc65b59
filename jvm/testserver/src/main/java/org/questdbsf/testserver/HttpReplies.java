package org.questdbsf.testserver;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

/** Small complete HTTP responses. */
final class HttpReplies {
  private HttpReplies() {}

  static FullHttpResponse text(int status, String body) {
    return of(status, "text/plain; charset=utf-8", body);
  }

  static FullHttpResponse json(int status, Object body) {
    return of(status, "application/json; charset=utf-8", Json.write(body) + "\n");
  }

  private static FullHttpResponse of(int status, String type, String body) {
    byte[] utf8 = body.getBytes(StandardCharsets.UTF_8);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(utf8));
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, utf8.length);
    return response;
  }
}
