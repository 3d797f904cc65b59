package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.questdb.ServerMain;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.net.SqlResult;
import org.questdbsf.qwp.QwpType;

/** Against a real QuestDB, embedded. */
class TableCheckTest {
  private static final List<String> NONE = List.of();

  @TempDir static Path root;
  private static ServerMain server;
  private static Endpoint endpoint;
  private static SqlOverHttp sql;

  @BeforeAll
  static void start() {
    Map<String, String> env = new HashMap<>(System.getenv());
    env.put("QDB_HTTP_BIND_TO", "127.0.0.1:0");
    env.put("QDB_PG_NET_BIND_TO", "127.0.0.1:0");
    env.put("QDB_LINE_TCP_ENABLED", "false");
    env.put("QDB_HTTP_MIN_ENABLED", "false");
    env.put("QDB_TELEMETRY_ENABLED", "false");
    env.put("QDB_DEV_MODE_ENABLED", "true");
    server = ServerMain.create(root.toString(), env);
    server.start();
    endpoint = new Endpoint("127.0.0.1", server.getHttpServerPort());
    sql = new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static void run(String statement) throws Exception {
    sql.query(endpoint, statement);
  }

  private static TableCheck check(TableSpec... specs) {
    TableCheck check = new TableCheck(sql);
    for (TableSpec spec : specs) {
      check.require(spec);
    }
    return check;
  }

  private static String refusal(ErrorCode code, TableSpec spec) {
    GateClosed e = assertThrows(GateClosed.class, () -> check(spec).admit(endpoint));
    assertEquals(code, e.error().code(), e.getMessage());
    assertTrue(e.terminal(), e.getMessage());
    assertTrue(e.getMessage().contains("'" + spec.table() + "'"), e.getMessage());
    assertEquals(spec.table(), e.table());
    return e.getMessage();
  }

  private static void assertHas(String message, String... parts) {
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  @Test
  void aTableThatIsNotThereIsRefusedOrCreated() throws Exception {
    TableSpec.Builder spec =
        TableSpec.builder("sensor readings-1")
            .column("dev id", QwpType.SYMBOL)
            .column("from", QwpType.DOUBLE)
            .column("amount", QwpType.DECIMAL128, "DECIMAL(20,4)")
            .column("grid", QwpType.DOUBLE_ARRAY, "DOUBLE[][]")
            .column("spot", QwpType.GEOHASH, "GEOHASH(7c)")
            .designated("select", QwpType.TIMESTAMP_NANOS)
            .partitionBy("hour")
            .ttl("36 hours")
            .dedupKeys(List.of("dev id"));
    assertHas(refusal(ErrorCode.TABLE_MISSING, spec.build()), "not there", "create_table=on");

    TableSpec create = spec.onMissing(OnMissingTable.CREATE).requireDedup(true).build();
    TableCheck check = check(create);
    check.admit(endpoint);
    TableFacts facts = check.facts("SENSOR readings-1").orElseThrow();
    assertEquals(List.of("select", "dev id"), sorted(facts.dedupKeys()));
    assertEquals("select", facts.designated().orElseThrow());
    assertEquals("DECIMAL(20,4)", facts.columns().get("amount"));
    assertEquals("GEOHASH(7c)", facts.columns().get("spot"));
    assertEquals("DOUBLE[][]", facts.columns().get("grid"));
    assertTrue(facts.walEnabled());
    assertEquals(Set.of(), check.suspendedTables());
    assertEquals("36 HOURS", facts.ttl().toString());
    check.admit(endpoint);
    check(create).admit(endpoint);
  }

  private static List<String> sorted(List<String> names) {
    return names.stream().sorted(Comparator.reverseOrder()).toList();
  }

  @Test
  void everyWireTypeFitsTheColumnItCreates() throws Exception {
    TableSpec.Builder spec = TableSpec.builder("all_types").designated("ts", QwpType.TIMESTAMP);
    for (QwpType type : QwpType.values()) {
      if (type != QwpType.LONG_ARRAY) { // cannot be created by DDL
        spec.column("c_" + type, type);
      }
    }
    TableSpec built = spec.onMissing(OnMissingTable.CREATE).build();
    check(built).admit(endpoint);
    check(built).admit(endpoint);
  }

  @Test
  void typesThatDoNotFitAreNamed() throws Exception {
    run(
        "CREATE TABLE types (price SYMBOL, size LONG, small INT, note VARCHAR, g GEOHASH(5c),"
            + " d DECIMAL(10,2), ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    String message =
        refusal(
            ErrorCode.TABLE_MISMATCH,
            TableSpec.builder("types")
                .column("PRICE", QwpType.DOUBLE)
                .column("size", QwpType.INT)
                .column("small", QwpType.LONG)
                .column("note", QwpType.SYMBOL)
                .column("g", QwpType.GEOHASH, "GEOHASH(6c)")
                .column("d", QwpType.DECIMAL64, "DECIMAL(10,3)")
                .column("fresh", QwpType.LONG)
                .designated("t", QwpType.TIMESTAMP)
                .build());
    assertHas(
        message,
        "column 'PRICE' is SYMBOL and the rows carry DOUBLE",
        "column 'small' is INT and the rows carry LONG",
        "column 'g' is GEOHASH(5c) and the rows carry GEOHASH(6c)",
        "column 'd' is DECIMAL(10,2) and the rows carry DECIMAL(10,3)");
    assertFalse(message.contains("'size'") || message.contains("'fresh'"), message);
    assertFalse(message.contains("'note'"), message);
    assertHas(
        refusal(
            ErrorCode.TABLE_MISMATCH,
            TableSpec.builder("types").designated("ts", QwpType.TIMESTAMP_NANOS).build()),
        "'ts' is TIMESTAMP and the rows carry TIMESTAMP_NS");
    assertHas(
        refusal(
            ErrorCode.TABLE_MISMATCH,
            TableSpec.builder("types").column("Ts", QwpType.TIMESTAMP).build()),
        "'Ts' is its designated timestamp");
  }

  /** A server calls the designated timestamp of a table that it makes so. */
  @Test
  void aColumnOfTheServersNameNeedsATableThatIsThere() throws Exception {
    TableSpec.Builder spec =
        TableSpec.builder("own_time")
            .column("TimeStamp", QwpType.VARCHAR)
            .onMissing(OnMissingTable.BY_SERVER);
    assertHas(
        refusal(ErrorCode.TABLE_MISMATCH, spec.build()), "not there", "'TimeStamp'", "Rename");
    check(spec.designated("ts", QwpType.TIMESTAMP).onMissing(OnMissingTable.CREATE).build())
        .admit(endpoint);
    check(spec.onMissing(OnMissingTable.BY_SERVER).build()).admit(endpoint);
    SfException e =
        assertThrows(
            SfException.class,
            () ->
                TableSpec.builder("t")
                    .column("Timestamp", QwpType.LONG)
                    .designated("timestamp", QwpType.TIMESTAMP)
                    .onMissing(OnMissingTable.CREATE)
                    .build());
    assertEquals(ErrorCode.NAME_INVALID, e.code());
    assertHas(e.getMessage(), "'t'", "'Timestamp'");
  }

  @Test
  void tablesThatTakeNoRowsAreRefused() throws Exception {
    run("CREATE TABLE timeless (a LONG)");
    assertHas(
        refusal(ErrorCode.TABLE_MISMATCH, TableSpec.builder("timeless").build()),
        "no designated timestamp",
        "no WAL table");
    run("CREATE TABLE direct (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY BYPASS WAL");
    String direct = refusal(ErrorCode.TABLE_MISMATCH, TableSpec.builder("direct").build());
    assertHas(direct, "no WAL table", "SET TYPE WAL");
    run("CREATE TABLE base (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    run("CREATE MATERIALIZED VIEW seen AS (SELECT ts, max(a) top FROM base SAMPLE BY 1h)");
    assertHas(
        refusal(ErrorCode.TABLE_MISMATCH, TableSpec.builder("seen").build()), "materialized view");
  }

  @Test
  void keysAreCompared() throws Exception {
    run("CREATE TABLE plain (a SYMBOL, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    run(
        "CREATE TABLE keyed (a SYMBOL, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL"
            + " DEDUP UPSERT KEYS(ts, a)");
    assertHas(
        refusal(ErrorCode.TABLE_MISMATCH, TableSpec.builder("plain").requireDedup(true).build()),
        "no dedup keys",
        "DEDUP ENABLE");
    check(TableSpec.builder("keyed").requireDedup(true).build()).admit(endpoint);
    check(TableSpec.builder("keyed").updateKeys(List.of("A", "TS")).build()).admit(endpoint);
    assertHas(
        refusal(
            ErrorCode.TABLE_MISMATCH, TableSpec.builder("keyed").updateKeys(List.of("ts")).build()),
        "its dedup keys are a, ts and update_keys are ts");
    assertHas(
        refusal(
            ErrorCode.TABLE_MISMATCH,
            TableSpec.builder("plain").updateKeys(List.of("ts", "a")).build()),
        "its dedup keys are none");
  }

  @Test
  void aSuspendedTableIsAFlagNotAnError() throws Exception {
    run("CREATE TABLE stuck (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    run("ALTER TABLE stuck SUSPEND WAL");
    TableCheck check = check(TableSpec.builder("stuck").build());
    check.admit(endpoint);
    assertEquals(Set.of("stuck"), check.suspendedTables());
    run("ALTER TABLE stuck RESUME WAL");
    check.admit(endpoint);
    assertEquals(Set.of(), check.suspendedTables());
  }

  @Test
  void theTtlCountsFromTheNewestRow() throws Exception {
    run(
        "CREATE TABLE aging (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY HOUR TTL 2 HOURS"
            + " WAL");
    TableCheck check = check(TableSpec.builder("aging").build());
    check.admit(endpoint);
    long now = System.currentTimeMillis() * 1000;
    assertEquals(TtlFloor.NONE, check.ttlFloor("aging").micros(now));
    run("INSERT INTO aging VALUES (1, '2013-01-01T10:00:00.000000Z')");
    server.awaitTable("aging");
    check.admit(endpoint);
    long ten = 1_357_034_400_000_000L;
    long hour = 3_600_000_000L;
    assertEquals(ten - 2 * hour, check.ttlFloor("aging").micros(now));
    check.ttlFloor("aging").observe(ten + hour);
    assertEquals(ten - hour, check.ttlFloor("aging").micros(now));

    run("DROP TABLE aging");
    run(
        "CREATE TABLE aging (a LONG, ts TIMESTAMP_NS) TIMESTAMP(ts) PARTITION BY HOUR TTL 1 DAY"
            + " WAL");
    run("INSERT INTO aging VALUES (1, '2012-01-02T00:00:00.000000001Z')");
    server.awaitTable("aging");
    check.admit(endpoint);
    assertEquals(1_325_376_000_000_000L, check.ttlFloor("aging").micros(now));
  }

  @Test
  void aTableThatVanishedStopsOrIsMadeAgain() throws Exception {
    TableSpec.Builder spec =
        TableSpec.builder("vanishing")
            .column("a", QwpType.LONG)
            .designated("ts", QwpType.TIMESTAMP);
    TableSpec create = spec.dedupKeys(List.of("a")).onMissing(OnMissingTable.CREATE).build();
    TableCheck creating = check(create);
    creating.admit(endpoint);
    TableCheck failing = check(spec.onMissing(OnMissingTable.FAIL).build());
    failing.admit(endpoint);
    run("DROP TABLE vanishing");
    assertThrows(GateClosed.class, () -> failing.admit(endpoint));
    creating.admit(endpoint);
    assertEquals(Set.of("ts", "a"), Set.copyOf(creating.facts("vanishing").get().dedupKeys()));
  }

  @Test
  void whatTheServerRefusesToCreateIsToldInItsWords() {
    TableSpec spec =
        TableSpec.builder("arrays")
            .column("x", QwpType.DOUBLE_ARRAY, "LONG[]")
            .designated("ts", QwpType.TIMESTAMP)
            .onMissing(OnMissingTable.CREATE)
            .build();
    assertHas(
        refusal(ErrorCode.TABLE_MISSING, spec), "unsupported array element type", "CREATE TABLE");
  }

  @Test
  void onlyWhatIsNewIsCheckedOnTheSameConnection() throws Exception {
    run("CREATE TABLE first (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    run("CREATE TABLE second (a LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    TableSpec first = TableSpec.builder("first").build();
    TableCheck check = check(first);
    long before = check.version();
    check.admit(endpoint);
    check.require(first);
    assertEquals(before, check.version());
    check.require(TableSpec.builder("second").build());
    assertTrue(check.version() > before);
    run("DROP TABLE first");
    check.admitMore(endpoint);
    assertTrue(check.facts("second").isPresent());
    assertThrows(GateClosed.class, () -> check.admit(endpoint));
  }

  /** The version grows only when the table can be found, however the threads run. */
  @Test
  void noTableSlipsThrough() throws Exception {
    Endpoint nobody = new Endpoint("127.0.0.1", 1);
    for (int round = 0; round < 200; round++) {
      TableCheck check = check();
      check.admit(nobody);
      Thread adding = new Thread(() -> check.require(TableSpec.builder("t").build()));
      adding.start();
      while (check.version() == 0) {
        Thread.onSpinWait();
      }
      assertThrows(GateClosed.class, () -> check.admitMore(nobody));
      adding.join();
    }
  }

  @Test
  void twoLanesMayCreateTheSameTable() throws Exception {
    TableSpec spec =
        TableSpec.builder("raced")
            .column("a", QwpType.LONG)
            .designated("ts", QwpType.TIMESTAMP)
            .onMissing(OnMissingTable.CREATE)
            .build();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    Thread[] lanes = new Thread[4];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] =
          new Thread(
              () -> {
                try {
                  check(spec).admit(endpoint);
                } catch (GateClosed | InterruptedException | RuntimeException e) {
                  failures.add(e);
                }
              });
      lanes[i].start();
    }
    for (Thread lane : lanes) {
      lane.join();
    }
    assertEquals(NONE, failures.stream().map(Throwable::toString).toList());
    SqlResult count =
        sql.query(endpoint, "SELECT count() n FROM tables() WHERE table_name='raced'");
    assertEquals(1L, count.value(0, "n"));
  }

  @Test
  void aServerThatIsAwayIsNotTerminal() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Endpoint gone = new Endpoint("127.0.0.1", port);
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("t").build()).admit(gone));
    assertFalse(e.terminal());
    assertHas(e.getMessage(), gone.toString(), "next connect");
  }

  @Test
  void sqlFailuresAreThoseOfTheServer() {
    SqlFailure e = assertThrows(SqlFailure.class, () -> run("SELECT * FROM table_columns('no')"));
    assertEquals(400, e.httpStatus());
  }
}
