package org.questdbsf.testserver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** SQL over the real server's {@code /exec}. */
final class SqlClient {
  private static final int TIMEOUT_MILLIS = 60_000;

  private final int port;

  SqlClient(int port) {
    this.port = port;
  }

  /** The JSON answer, or {@link IllegalArgumentException} with the server's words. */
  String run(String statement) {
    try {
      String query = URLEncoder.encode(statement, StandardCharsets.UTF_8);
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + port + "/exec?query=" + query)
                  .toURL()
                  .openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      int status = connection.getResponseCode();
      try (InputStream in =
          status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
        String body = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        if (status >= 400) {
          throw new IllegalArgumentException("HTTP " + status + ": " + body);
        }
        return body;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(statement, e);
    }
  }

  List<Object[]> rows(String statement) {
    Map<?, ?> answer = (Map<?, ?>) Json.parse(run(statement));
    List<Object[]> rows = new ArrayList<>();
    if (answer.get("dataset") instanceof List<?> dataset) {
      for (Object row : dataset) {
        rows.add(((List<?>) row).toArray());
      }
    }
    return rows;
  }
}
