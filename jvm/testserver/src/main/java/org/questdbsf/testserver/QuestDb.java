package org.questdbsf.testserver;

import io.questdb.ServerMain;
import io.questdb.cairo.CairoEngine;
import io.questdb.log.LogFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The real QuestDB in this JVM: HTTP and PostgreSQL on free ports of 127.0.0.1, nothing else. */
final class QuestDb implements AutoCloseable {
  /**
   * A start should cost a second, not five, and leave nothing on standard output, which belongs to
   * the ready line. Small pages, because tests make many small tables.
   */
  private static final Map<String, String> SETTINGS =
      Map.ofEntries(
          Map.entry("QDB_HTTP_BIND_TO", "127.0.0.1:0"),
          Map.entry("QDB_PG_NET_BIND_TO", "127.0.0.1:0"),
          Map.entry("QDB_LINE_TCP_ENABLED", "false"),
          Map.entry("QDB_HTTP_MIN_ENABLED", "false"),
          Map.entry("QDB_TELEMETRY_ENABLED", "false"),
          Map.entry("QDB_METRICS_ENABLED", "false"),
          // Allows ALTER TABLE .. SUSPEND WAL, which tests of suspended tables need.
          Map.entry("QDB_DEV_MODE_ENABLED", "true"),
          Map.entry("QDB_SHARED_NETWORK_WORKER_COUNT", "1"),
          Map.entry("QDB_SHARED_QUERY_WORKER_COUNT", "1"),
          Map.entry("QDB_SHARED_WRITE_WORKER_COUNT", "1"),
          Map.entry("QDB_MAT_VIEW_REFRESH_WORKER_COUNT", "1"),
          Map.entry("QDB_EXPORT_WORKER_COUNT", "0"),
          Map.entry("QDB_VIEW_COMPILER_WORKER_COUNT", "0"),
          Map.entry("QDB_WAL_APPLY_WORKER_COUNT", "1"),
          // An idle WalWriter holds about 15 descriptors (see WriterPool for the other bound).
          Map.entry("QDB_CAIRO_WAL_INACTIVE_WRITER_TTL", "10000"),
          Map.entry("QDB_CAIRO_IDLE_CHECK_INTERVAL", "5000"),
          // After a kill in the middle of a column's addition, queries wait until it is repaired.
          Map.entry("QDB_CAIRO_SPIN_LOCK_TIMEOUT", "30000"));

  private static final String LOG_CONF =
      """
      writers=file
      w.file.class=io.questdb.log.LogFileWriter
      w.file.location=${log.dir}/questdb.log
      w.file.level=ERROR,CRITICAL,ADVISORY
      """;

  private final ServerMain server;

  private QuestDb(ServerMain server) {
    this.server = server;
  }

  /** Starts on this root, or throws {@link IllegalStateException} with what the engine said. */
  static QuestDb start(Path root) {
    try {
      Files.createDirectories(root.resolve("conf"));
      Path logConf = root.resolve("conf").resolve("log.conf");
      if (!Files.exists(logConf)) {
        Files.writeString(logConf, LOG_CONF);
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot write in the database root " + root, e);
    }
    // The engine's log is one per JVM and reads its settings from the first root that it sees.
    LogFactory.configureRootDir(root.toString());
    Map<String, String> env = new HashMap<>(System.getenv());
    env.putAll(SETTINGS);
    ServerMain server = ServerMain.create(root.toString(), env);
    try {
      server.start();
    } catch (RuntimeException e) {
      server.close();
      throw new IllegalStateException("QuestDB does not start on root " + root, e);
    }
    return new QuestDb(server);
  }

  CairoEngine engine() {
    return server.getEngine();
  }

  int httpPort() {
    return server.getHttpServerPort();
  }

  int pgPort() {
    return server.getPgWireServerPort();
  }

  @Override
  public void close() {
    server.close();
  }
}
