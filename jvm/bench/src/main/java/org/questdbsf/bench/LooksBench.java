package org.questdbsf.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.sender.TableSpec;

/**
 * How many queries a second the lanes of a JVM make to see whether their tables are still the same:
 * one lane against 64, in one run, at a server that only counts. Prints one JSON line.
 */
public final class LooksBench {
  private static final int LANES = 64;
  private static final int TABLES = 10;
  private static final long NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long SETTLING_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long FRAME_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** What makes a lane look. */
  private enum Load {
    /** Frames are always on their way. */
    BUSY,
    /** All is acknowledged before the next frame. */
    QUIET,
    /** No acknowledgement proves by itself that its rows are in the table. */
    OPEN
  }

  private final AtomicLong queries = new AtomicLong();
  private final ExecutorService serving = Executors.newCachedThreadPool();
  private final HttpServer server;
  private final Endpoint endpoint;

  private LooksBench() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/exec", this::answer);
    server.setExecutor(serving);
    server.start();
    endpoint = new Endpoint("127.0.0.1", server.getAddress().getPort());
  }

  private void answer(HttpExchange exchange) throws IOException {
    queries.incrementAndGet();
    String sql = exchange.getRequestURI().getQuery();
    StringJoiner rows = new StringJoiner(",", "],\"dataset\":[", "]}");
    String columns;
    if (sql.contains("table_columns")) {
      columns = columns("column", "type", "designated", "upsertKey");
      rows.add("[\"ts\",\"TIMESTAMP\",true,false]");
    } else {
      columns = columns("table_name", "id", "directoryName", "table_suspended");
      for (int i = 0; i < TABLES; i++) {
        if (sql.contains("'" + table(i) + "'")) {
          rows.add("[\"" + table(i) + "\"," + i + ",\"" + table(i) + "~1\",false]");
        }
      }
    }
    byte[] body = ("{\"columns\":[" + columns + rows).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String columns(String... names) {
    StringJoiner all = new StringJoiner(",");
    for (String name : names) {
      all.add("{\"name\":\"" + name + "\",\"type\":\"STRING\"}");
    }
    return all.toString();
  }

  private static String table(int i) {
    return "table_" + i + "_";
  }

  private TableCheck admitted() throws Exception {
    SenderConfig config = SenderConfig.parse("ws::addr=" + endpoint);
    TableCheck check = new TableCheck(new SqlOverHttp(config.connectSettings()));
    for (int i = 0; i < TABLES; i++) {
      check.require(TableSpec.builder(table(i)).designated("ts", QwpType.TIMESTAMP).build());
    }
    check.admit(endpoint);
    return check;
  }

  /** Queries a second of so many lanes. */
  private double run(int lanes, Load load) throws Exception {
    List<TableCheck> checks = new ArrayList<>();
    for (int i = 0; i < lanes; i++) {
      checks.add(admitted());
    }
    final long end = System.nanoTime() + SETTLING_NANOS + NANOS;
    ExecutorService threads = Executors.newFixedThreadPool(lanes);
    List<Callable<Void>> all = new ArrayList<>();
    for (TableCheck check : checks) {
      all.add(
          () -> {
            while (System.nanoTime() - end < 0) {
              look(check, load);
              LockSupport.parkNanos(FRAME_NANOS);
            }
            return null;
          });
    }
    List<Future<Void>> running = new ArrayList<>();
    all.forEach(lane -> running.add(threads.submit(lane)));
    TimeUnit.NANOSECONDS.sleep(SETTLING_NANOS);
    final long before = queries.get();
    for (Future<Void> lane : running) {
      lane.get();
    }
    threads.shutdown();
    return (queries.get() - before) * 1e9 / NANOS;
  }

  private void look(TableCheck check, Load load) throws Exception {
    long now = System.nanoTime();
    boolean quiet = load == Load.QUIET;
    if (load == Load.OPEN) {
      check.admitAgain(endpoint, now);
    } else if (check.isDue(quiet, now)) {
      check.admitAgain(endpoint, now - check.mayBeOld(quiet));
    }
  }

  private void measure(PrintStream out) throws Exception {
    StringJoiner loads = new StringJoiner(", ", "{", "}");
    for (Load load : Load.values()) {
      double one = run(1, load);
      double many = run(LANES, load);
      loads.add(
          String.format(
              "\"%s\": {\"lanes_1\": %.1f, \"lanes_%d\": %.1f, \"ratio\": %.2f}",
              load.name().toLowerCase(Locale.ROOT), one, LANES, many, many / one));
    }
    out.println("{\"looks_per_second\": " + loads + "}");
    server.stop(0);
    serving.shutdown();
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    new LooksBench().measure(System.out);
  }
}
