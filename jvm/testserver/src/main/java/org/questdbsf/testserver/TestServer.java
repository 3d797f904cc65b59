package org.questdbsf.testserver;

import java.nio.file.Path;
import java.util.List;

/**
 * A QWP endpoint in front of a real QuestDB in this JVM. A test fixture.
 *
 * <p>Each port speaks QWP at {@code /write/v4} and {@code /api/v4/write}, control at {@code
 * /qwp/counters} and {@code /qwp/script}, and passes everything else to the real server. All ports
 * share one database. All methods may be called by any thread.
 */
public final class TestServer implements AutoCloseable {
  private TestServer() {}

  /**
   * Starts the database and the ports; returns when all of them answer.
   *
   * @throws IllegalStateException if the database cannot start or a port cannot be bound
   */
  public static TestServer start(TestServerOptions options) {
    throw new UnsupportedOperationException("start " + options);
  }

  /** Starts with {@link TestServerOptions#defaults()}. */
  public static TestServer start() {
    return start(TestServerOptions.defaults());
  }

  /** The first port. */
  public int port() {
    return port(0);
  }

  /** The n-th port, from 0. */
  public int port(int n) {
    throw new UnsupportedOperationException("port");
  }

  /** The real server's own HTTP port, on 127.0.0.1, without credentials or TLS. */
  public int httpPort() {
    throw new UnsupportedOperationException("httpPort");
  }

  /** The real server's PostgreSQL port, on 127.0.0.1 (admin, quest). */
  public int pgPort() {
    throw new UnsupportedOperationException("pgPort");
  }

  /** The database root. */
  public Path root() {
    throw new UnsupportedOperationException("root");
  }

  /** The script of the first port. */
  public Script script() {
    return script(0);
  }

  /** The script of the n-th port, from 0. */
  public Script script(int n) {
    throw new UnsupportedOperationException("script");
  }

  /** What was counted, over all ports. */
  public Counters counters() {
    throw new UnsupportedOperationException("counters");
  }

  /** What was counted on the n-th port by this process (nothing of it is durable). */
  public Counters counters(int n) {
    throw new UnsupportedOperationException("counters");
  }

  /**
   * Runs one SQL statement and returns the JSON of {@code /exec}.
   *
   * @throws IllegalArgumentException with the server's words if it is refused
   */
  public String sql(String statement) {
    throw new UnsupportedOperationException("sql");
  }

  /**
   * Rows of a query. Values as in the JSON of {@code /exec}: String, Long, Double, Boolean, null or
   * List; timestamps are text in ISO form; BINARY is shown only through {@code base64(col, n)}.
   *
   * @throws IllegalArgumentException with the server's words if it is refused
   */
  public List<Object[]> query(String statement) {
    throw new UnsupportedOperationException("query");
  }

  /**
   * Waits until the table has at least so many rows that are visible to SQL.
   *
   * @throws IllegalStateException after 60 s, with what was there
   */
  public void awaitRows(String table, long rows) {
    throw new UnsupportedOperationException("awaitRows");
  }

  /** Ends all connections without a word, stops the database; deletes the root if temporary. */
  @Override
  public void close() {
    throw new UnsupportedOperationException("close");
  }
}
