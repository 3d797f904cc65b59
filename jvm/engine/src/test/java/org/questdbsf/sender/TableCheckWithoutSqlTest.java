package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;

/** Against a server whose /exec answers with a status. */
class TableCheckWithoutSqlTest {
  private final AtomicInteger requests = new AtomicInteger();
  private HttpServer server;
  private Endpoint endpoint;
  private volatile int status;

  /** What the first requests are answered with, before the status is. */
  private volatile List<String> bodies = List.of();

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          int n = requests.getAndIncrement();
          if (n < bodies.size()) {
            byte[] body = bodies.get(n).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(bodies.get(n).contains("error") ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
          } else {
            exchange.sendResponseHeaders(status, -1);
          }
          exchange.close();
        });
    server.start();
    endpoint = new Endpoint("127.0.0.1", server.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private TableCheck check(TableSpec spec) {
    TableCheck check =
        new TableCheck(
            new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings()));
    check.require(spec);
    return check;
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403, 404, 405})
  void goesOnUncheckedUnlessSomethingWasAskedFor(int code) throws Exception {
    status = code;
    TableCheck plain = check(TableSpec.builder("t").build());
    plain.admit(endpoint);
    plain.admit(endpoint);
    assertEquals(2, requests.get());
    assertTrue(plain.facts("t").isEmpty());
    assertEquals(TtlFloor.NONE, plain.ttlFloor("t").micros(0));

    List<TableSpec> asked =
        List.of(
            TableSpec.builder("t").requireDedup(true).build(),
            TableSpec.builder("t").updateKeys(List.of("ts")).build(),
            TableSpec.builder("t")
                .designated("ts", QwpType.TIMESTAMP)
                .onMissing(OnMissingTable.CREATE)
                .build());
    for (TableSpec spec : asked) {
      GateClosed e = assertThrows(GateClosed.class, () -> check(spec).admit(endpoint));
      assertTrue(e.terminal());
      assertTrue(e.getMessage().contains("HTTP " + code), e.getMessage());
      assertTrue(e.getMessage().contains("give the user access to /exec"), e.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503})
  void aServerInTroubleIsAskedAgainLater(int code) {
    status = code;
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("t").build()).admit(endpoint));
    assertFalse(e.terminal());
  }

  /** What a server says of a moment must not let rows go unchecked for as long as a connection. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "table busy [reason=unknown]",
        "timeout, query aborted [fd=17]",
        "global RSS memory limit exceeded [usage=2]",
        "No space left [size=4096, fd=17]"
      })
  void aStatementThatFailsForAMomentIsAskedAgainLater(String words) {
    status = 500;
    bodies = List.of("{\"error\":\"" + words + "\",\"position\":0}");
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("t").build()).admit(endpoint));
    assertFalse(e.terminal());
    assertTrue(e.getMessage().contains(words), e.getMessage());
    assertTrue(e.getMessage().contains("tried again"), e.getMessage());
  }

  /** Rows sent to it would be acknowledged and lost. */
  @ParameterizedTest
  @ValueSource(strings = {"Invalid metadata at fd=1. Duplicate column [name=timestamp] at 3", "no"})
  void aTableThatCannotBeReadIsRefused(String words) {
    String entry =
        "{\"columns\":[{\"name\":\"table_name\",\"type\":\"STRING\"}],\"dataset\":[[\"t\"]]}";
    String refusal = "{\"error\":\"" + words + "\",\"position\":0}";
    bodies = List.of(entry, refusal, entry);
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("t").build()).admit(endpoint));
    assertTrue(e.terminal());
    assertEquals(ErrorCode.TABLE_MISMATCH, e.error().code());
    for (String part : List.of("table 't' on " + endpoint, words, "DROP TABLE")) {
      assertTrue(e.getMessage().contains(part), e.getMessage());
    }
  }

  /** Where the table is not there the server would make it, with two columns of that name. */
  @ParameterizedTest
  @CsvSource({"404, timestamp", "403, TimeStamp"})
  void theNameOfTheServersTimestampIsRefused(int code, String name) throws Exception {
    status = code;
    TableSpec.Builder spec = TableSpec.builder("t").column(name, QwpType.VARCHAR);
    for (OnMissingTable missing : List.of(OnMissingTable.FAIL, OnMissingTable.BY_SERVER)) {
      TableSpec asked = spec.onMissing(missing).build();
      GateClosed e = assertThrows(GateClosed.class, () -> check(asked).admit(endpoint));
      assertTrue(e.terminal());
      assertEquals(ErrorCode.TABLE_MISMATCH, e.error().code());
      for (String part : List.of("table 't'", "'" + name + "'", "HTTP " + code, "Rename")) {
        assertTrue(e.getMessage().contains(part), e.getMessage());
      }
    }
    check(TableSpec.builder("t").column("time_stamp", QwpType.LONG).build()).admit(endpoint);
    check(TableSpec.builder("t").designated("timestamp", QwpType.TIMESTAMP).build())
        .admit(endpoint);
  }

  @Test
  void thatTablesAreNotCheckedIsSaidOnceOfAServer() throws Exception {
    status = 404;
    String said =
        Logs.of(
            () -> {
              TableCheck check = check(TableSpec.builder("first").build());
              check.admit(endpoint);
              check.require(TableSpec.builder("second").build());
              check.admitMore(endpoint);
            });
    assertEquals(2, said.split("Tables are not checked on " + endpoint, -1).length, said);
    assertTrue(said.contains("neither types nor designated timestamp"), said);
  }

  private static final String NOT_THERE =
      "{\"error\":\"table does not exist [table=t]\",\"position\":0}";

  /** The list of tables: t with this id, or nothing. */
  private static String listed(Integer id) {
    return "{\"columns\":[{\"name\":\"table_name\",\"type\":\"STRING\"},{\"name\":\"id\",\"type\":\"INT\"},"
               + "{\"name\":\"table_suspended\",\"type\":\"BOOLEAN\"}],\"dataset\":["
        + (id == null ? "" : "[\"t\"," + id + ",false]")
        + "]}";
  }

  /**
   * Sent unchecked, its rows would make it anew, without keys. Servers may list a table for a
   * moment after it was dropped.
   */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {"-", "1"})
  void aTableThatIsDroppedWhileItIsLookedAtIsMissing(Integer listedAfterwards) {
    bodies = List.of(listed(1), NOT_THERE, listed(listedAfterwards));
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("t").build()).admit(endpoint));
    assertEquals(ErrorCode.TABLE_MISSING, e.error().code());
    assertTrue(e.terminal());
  }

  @Test
  void aTableThatIsMadeAnewWhileItIsLookedAtIsLookedAtAgain() throws Exception {
    String columns =
        "{\"columns\":[{\"name\":\"column\",\"type\":\"STRING\"},{\"name\":\"type\",\"type\":\"STRING\"},"
            + "{\"name\":\"upsertKey\",\"type\":\"BOOLEAN\"},{\"name\":\"designated\",\"type\":\"BOOLEAN\"}],"
            + "\"dataset\":[[\"ts\",\"TIMESTAMP\",false,true]]}";
    bodies = List.of(listed(1), NOT_THERE, listed(2), columns);
    TableCheck check = check(TableSpec.builder("t").build());
    check.admit(endpoint);
    assertEquals("ts", check.facts("t").orElseThrow().designated().orElseThrow());
  }

  /** As servers that have views answer: {@code table_type} is T for a table, V and M for views. */
  @ParameterizedTest
  @CsvSource({"V,a view", "M,a materialized view"})
  void viewsAreRefused(String type, String called) {
    String name = "{\"name\":\"table_name\",\"type\":\"STRING\"}";
    String kind = "{\"name\":\"table_type\",\"type\":\"CHAR\"}";
    String suspended = "{\"name\":\"table_suspended\",\"type\":\"BOOLEAN\"}";
    bodies =
        List.of(
            "{\"columns\":["
                + String.join(",", name, kind, suspended)
                + "],\"dataset\":[[\"v\",\""
                + type
                + "\",false]]}",
            "{\"columns\":[{\"name\":\"column\",\"type\":\"STRING\"},"
                + "{\"name\":\"type\",\"type\":\"STRING\"},"
                + "{\"name\":\"upsertKey\",\"type\":\"BOOLEAN\"},"
                + "{\"name\":\"designated\",\"type\":\"BOOLEAN\"}],"
                + "\"dataset\":[[\"x\",\"LONG\",false,false]]}");
    GateClosed e =
        assertThrows(GateClosed.class, () -> check(TableSpec.builder("v").build()).admit(endpoint));
    assertTrue(e.terminal());
    assertEquals(ErrorCode.TABLE_MISMATCH, e.error().code());
    assertTrue(
        e.getMessage().endsWith("it is " + called + ", which takes no rows; name a table."),
        e.getMessage());
  }
}
