package org.questdbsf.net;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.questdbsf.net.JsonReader.MalformedJsonException;

/**
 * SQL over {@code GET /exec} on the same port as the WebSocket, with the same TLS, credentials and
 * time-outs; no proxy is asked, no redirect followed. Blocking, interruptible, one connection per
 * query. Any thread.
 */
public final class SqlOverHttp {
  private final ConnectSettings settings;

  /** Uses the TLS, credentials and time-outs of these settings. */
  public SqlOverHttp(ConnectSettings settings) {
    this.settings = Objects.requireNonNull(settings, "settings");
  }

  /**
   * Runs one statement. The answer must come within the auth time-out and have at most 16 MiB.
   *
   * @throws SqlFailure when it cannot be sent, is refused, or the answer cannot be read
   * @throws InterruptedException when interrupted; whether the statement ran is then unknown
   */
  public SqlResult query(Endpoint endpoint, String sql) throws SqlFailure, InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    String authorization = authorization(endpoint);
    ForeignText foreign = ForeignText.of(authorization);
    return read(endpoint, dial(endpoint, sql, authorization, foreign, false), foreign);
  }

  /**
   * Queries of one server on a connection that is kept.
   *
   * @see SqlSession
   */
  public SqlSession session(Endpoint endpoint) {
    return new SqlSession(this, settings, endpoint);
  }

  /**
   * Equal for two that ask a server alike: with the same TLS, secret and time-outs. Holds the
   * secret: not to be shown.
   *
   * @throws SqlFailure when the secret cannot be resolved
   */
  public Object login(Endpoint endpoint) throws SqlFailure {
    return new Login(
        endpoint,
        settings.tls(),
        settings.tlsSettings().verify(),
        settings.tlsSettings().roots(),
        authorization(endpoint),
        settings.connectTimeoutMillis(),
        settings.authTimeoutMillis());
  }

  private record Login(
      Endpoint endpoint,
      boolean tls,
      boolean verify,
      Path roots,
      String authorization,
      int connectTimeoutMillis,
      int authTimeoutMillis) {}

  /** Waits for an answer and makes it a result. */
  static SqlResult read(Endpoint endpoint, SqlExchange exchange, ForeignText foreign)
      throws SqlFailure, InterruptedException {
    HttpExchange.Answer answer = await(endpoint, exchange);
    int status = answer.status().code();
    if (status != 200) {
      throw refused(endpoint, answer, foreign);
    }
    if (!answer.complete()) {
      throw unreadable(
          endpoint,
          answer.body().length >= SqlExchange.MAX_BODY_BYTES
              ? "it is larger than " + SqlExchange.MAX_BODY_BYTES + " bytes"
              : "it ends after " + answer.body().length + " bytes",
          null);
    }
    try {
      return result(text(answer.body()));
    } catch (MalformedJsonException | CharacterCodingException e) {
      throw unreadable(endpoint, Channels.describe(e), e);
    }
  }

  String authorization(Endpoint endpoint) throws SqlFailure {
    try {
      return Authorization.resolve(endpoint, settings.credentials());
    } catch (ConnectFailure e) {
      throw new SqlFailure(0, null, null, -1, e.getMessage(), e);
    }
  }

  /** Begins an exchange on a fresh connection. */
  SqlExchange dial(
      Endpoint endpoint, String sql, String authorization, ForeignText foreign, boolean keep)
      throws SqlFailure, InterruptedException {
    try {
      return Dialer.dial(
          endpoint,
          settings,
          () -> new SqlExchange(endpoint, settings, authorization, sql, foreign, keep));
    } catch (ConnectFailure e) {
      throw new SqlFailure(0, null, null, -1, e.getMessage(), e);
    }
  }

  private static HttpExchange.Answer await(Endpoint endpoint, SqlExchange exchange)
      throws SqlFailure, InterruptedException {
    try {
      return exchange.await();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SqlFailure failure) {
        throw failure;
      }
      throw new SqlFailure(
          0,
          null,
          null,
          -1,
          "cannot ask " + endpoint + " by SQL: " + Channels.describe(e),
          e.getCause());
    }
  }

  private static SqlFailure refused(
      Endpoint endpoint, HttpExchange.Answer answer, ForeignText foreign) {
    String words = null;
    String said = null;
    int position = -1;
    try {
      if (JsonReader.read(text(answer.body())) instanceof Map<?, ?> body) {
        words = body.get("error") instanceof String error ? error : null;
        said = foreign.clean(words);
        position = body.get("position") instanceof Long p ? Math.toIntExact(p) : -1;
      }
    } catch (MalformedJsonException | CharacterCodingException | ArithmeticException e) {
      words = said = null; // a proxy's page, say: the excerpt below is what there is
    }
    String excerpt = HttpExchange.excerpt(answer, foreign);
    if (said == null && !excerpt.isEmpty()) {
      words = said = excerpt;
    }
    return new SqlFailure(
        answer.status().code(),
        words,
        said,
        position,
        endpoint
            + " refused the SQL with HTTP "
            + foreign.clean(answer.status().toString())
            + (said == null ? "" : ": " + said)
            + (position < 0 ? "" : " (at character " + position + ")"),
        null);
  }

  private static SqlFailure unreadable(Endpoint endpoint, String why, Throwable cause) {
    return new SqlFailure(
        200, null, null, -1, "the answer of " + endpoint + " to SQL cannot be read: " + why, cause);
  }

  private static String text(byte[] utf8) throws CharacterCodingException {
    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
  }

  private static SqlResult result(String json) throws MalformedJsonException {
    if (!(JsonReader.read(json) instanceof Map<?, ?> body)) {
      throw new MalformedJsonException("no object");
    }
    if (!body.containsKey("columns") && !body.containsKey("dataset")) {
      return new SqlResult(List.of(), List.of(), List.of()); // {"ddl":"OK"} and its like
    }
    List<String> names = new ArrayList<>();
    List<String> types = new ArrayList<>();
    for (Object column : list(body, "columns")) {
      if (!(column instanceof Map<?, ?> c)
          || !(c.get("name") instanceof String name)
          || !(c.get("type") instanceof String type)) {
        throw new MalformedJsonException("a column without name and type");
      }
      names.add(name);
      types.add(type);
    }
    List<List<Object>> rows = new ArrayList<>();
    for (Object row : list(body, "dataset")) {
      if (!(row instanceof List<?> values) || values.size() != names.size()) {
        throw new MalformedJsonException(
            "row " + rows.size() + " has not " + names.size() + " values");
      }
      rows.add(Collections.unmodifiableList(new ArrayList<Object>(values)));
    }
    return new SqlResult(List.copyOf(names), List.copyOf(types), List.copyOf(rows));
  }

  private static List<?> list(Map<?, ?> body, String name) throws MalformedJsonException {
    if (body.get(name) instanceof List<?> list) {
      return list;
    }
    throw new MalformedJsonException("no list " + name);
  }
}
