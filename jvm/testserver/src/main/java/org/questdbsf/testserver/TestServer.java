package org.questdbsf.testserver;

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A QWP endpoint in front of a real QuestDB in this JVM. A test fixture.
 *
 * <p>Each port speaks QWP at {@code /write/v4} and {@code /api/v4/write}, control at {@code
 * /qwp/counters} and {@code /qwp/script}, and passes everything else to the real server. All ports
 * share one database. All methods may be called by any thread.
 */
public final class TestServer implements AutoCloseable {
  private static final long AWAIT_SECONDS = 60;
  private static final long POLL_MILLIS = 10;
  private static final int LOOPS = 2;

  /** A session that adds a column waits as long as the engine's spin lock, 30 s. */
  private static final long SESSION_END_SECONDS = 90;

  private final Path root;
  private final boolean temporary;
  private final QuestDb database;
  private final CounterFile counterFile;
  private final NioEventLoopGroup loops =
      new NioEventLoopGroup(LOOPS, new DefaultThreadFactory("questdb-sf-testserver-io", true));
  private final ExecutorService executor =
      Executors.newCachedThreadPool(new DefaultThreadFactory("questdb-sf-testserver", true));
  private final List<Front> fronts = new ArrayList<>();
  private final List<Script> scripts = new ArrayList<>();
  private final List<PortCounters> portCounters = new ArrayList<>();
  private boolean closed;

  private TestServer(TestServerOptions options, Path root) {
    this.root = root;
    this.temporary = options.root() == null;
    this.database = QuestDb.start(root);
    this.counterFile = new CounterFile(root);
  }

  /**
   * Starts the database and the ports; returns when all of them answer.
   *
   * @throws IllegalStateException if the database cannot start or a port cannot be bound
   */
  public static TestServer start(TestServerOptions options) {
    SslContext tls = options.tls() == null ? null : options.tls().context();
    Path root;
    try {
      root =
          options.root() == null
              ? Files.createTempDirectory("questdb-sf-testserver")
              : Files.createDirectories(options.root());
    } catch (IOException e) {
      throw new IllegalStateException("cannot make the database root " + options.root(), e);
    }
    TestServer server = new TestServer(options, root);
    try {
      server.listen(options, tls);
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  /** Starts with {@link TestServerOptions#defaults()}. */
  public static TestServer start() {
    return start(TestServerOptions.defaults());
  }

  private void listen(TestServerOptions options, SslContext tls) {
    CredentialCheck credentials = new CredentialCheck(options);
    for (int number : options.ports()) {
      Script script = new Script();
      PortCounters counters = new PortCounters(counterFile);
      scripts.add(script);
      portCounters.add(counters);
      fronts.add(
          Front.listen(
              options.host(),
              number,
              loops,
              new PortContext(
                  script,
                  counters,
                  () -> countersJson(counters),
                  credentials,
                  tls,
                  database.httpPort(),
                  database.engine(),
                  executor)));
    }
  }

  private Map<String, Object> countersJson(PortCounters port) {
    Map<String, Object> json = counters().toJson();
    json.put("this_port", port.snapshot().toJson());
    Map<String, Object> tables = new LinkedHashMap<>();
    counterFile
        .tables()
        .forEach(
            (table, rows) ->
                tables.put(
                    table, Map.of("rows_received", rows.received(), "rows_acked", rows.acked())));
    json.put("tables", tables);
    return json;
  }

  /** The first port. */
  public int port() {
    return port(0);
  }

  /** The n-th port, from 0. */
  public int port(int n) {
    return fronts.get(n).port();
  }

  /** The real server's own HTTP port, on 127.0.0.1, without credentials or TLS. */
  public int httpPort() {
    return database.httpPort();
  }

  /** The real server's PostgreSQL port, on 127.0.0.1 (admin, quest). */
  public int pgPort() {
    return database.pgPort();
  }

  /** The database root. */
  public Path root() {
    return root;
  }

  /** The script of the first port. */
  public Script script() {
    return script(0);
  }

  /** The script of the n-th port, from 0. */
  public Script script(int n) {
    return scripts.get(n);
  }

  /** What was counted, over all ports. */
  public Counters counters() {
    return PortCounters.total(counterFile, portCounters);
  }

  /** What was counted on the n-th port by this process (nothing of it is durable). */
  public Counters counters(int n) {
    return portCounters.get(n).snapshot();
  }

  /**
   * Runs one SQL statement and returns the JSON of {@code /exec}.
   *
   * @throws IllegalArgumentException with the server's words if it is refused
   */
  public String sql(String statement) {
    return new SqlClient(database.httpPort()).run(statement);
  }

  /**
   * Rows of a query. Values as in the JSON of {@code /exec}: String, Long, Double, Boolean, null or
   * List; timestamps are text in ISO form; BINARY is shown only through {@code base64(col, n)}.
   *
   * @throws IllegalArgumentException with the server's words if it is refused
   */
  public List<Object[]> query(String statement) {
    return new SqlClient(database.httpPort()).rows(statement);
  }

  /**
   * Waits until the table has at least so many rows that are visible to SQL.
   *
   * @throws IllegalStateException after 60 s, with what was there
   */
  public void awaitRows(String table, long rows) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAIT_SECONDS);
    while (true) {
      long seen = count(table);
      if (seen >= rows) {
        return;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException(
            "table " + table + ": " + seen + " of " + rows + " rows after " + AWAIT_SECONDS + " s");
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for rows of " + table, e);
      }
    }
  }

  private long count(String table) {
    if (database.engine().getTableTokenIfExists(table) == null) {
      return 0;
    }
    return (Long) query("SELECT count() FROM \"" + table + "\"").get(0)[0];
  }

  /**
   * Ends all connections without a word, stops the database; deletes the root if it was temporary.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    counterFile.stopping();
    fronts.forEach(Front::close);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    try (counterFile;
        database) {
      endSessions();
    }
    if (temporary) {
      deleteRoot();
    }
  }

  /** The engine ends after them: it would complain of what they still have open. */
  private void endSessions() {
    executor.shutdown();
    try {
      if (!executor.awaitTermination(SESSION_END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a session does not end in " + SESSION_END_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void deleteRoot() {
    try (Stream<Path> paths = Files.walk(root)) {
      paths.sorted(Comparator.reverseOrder()).forEach(TestServer::delete);
    } catch (IOException e) {
      throw new UncheckedIOException("root " + root, e);
    }
  }

  private static void delete(Path path) {
    try {
      Files.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException("root", e);
    }
  }
}
