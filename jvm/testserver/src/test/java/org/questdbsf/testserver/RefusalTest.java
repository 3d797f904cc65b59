package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/** What is not taken, with which status and which words; and what is taken by conversion. */
@Timeout(60)
class RefusalTest {
  private static TestServer server;
  private static long rowsTaken;

  @BeforeAll
  static void start() {
    server = TestServer.start();
    server.sql(
        "CREATE TABLE typed (b BYTE, sh SHORT, i INT, l LONG, f FLOAT, d DOUBLE, st STRING,"
            + " vc VARCHAR, sy SYMBOL, c CHAR, dt DATE, us TIMESTAMP, ns TIMESTAMP_NS, u UUID,"
            + " dec DECIMAL(5,2), g GEOHASH(20b), a DOUBLE[], timestamp TIMESTAMP)"
            + " TIMESTAMP(timestamp) PARTITION BY DAY WAL");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static byte[] cell(String column, QwpType type, Consumer<ColumnBuffer> value, long time) {
    return Messages.of(
        "typed",
        block -> {
          value.accept(block.column(column, type));
          block.designated(QwpType.TIMESTAMP).putLong(time);
          block.endRow();
        });
  }

  private static RawClient.Frame send(byte[] message) throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(message);
      return client.read();
    }
  }

  /** A wire value, the column it goes to, and what is said or shown. */
  record Case(String column, QwpType type, Consumer<ColumnBuffer> value, Object expected) {
    @Override
    public String toString() {
      return type + " to " + column;
    }
  }

  static Stream<Case> taken() {
    return Stream.of(
        new Case("b", QwpType.LONG, c -> c.putLong(-128), -128L),
        new Case("sh", QwpType.INT, c -> c.putLong(32767), 32767L),
        new Case("i", QwpType.LONG, c -> c.putLong(-2147483647L), -2147483647L),
        new Case("l", QwpType.BYTE, c -> c.putLong(-1), -1L),
        new Case("d", QwpType.LONG, c -> c.putLong(1L << 53), 9.007199254740992E15),
        new Case("f", QwpType.INT, c -> c.putLong(5), 5.0),
        new Case("d", QwpType.FLOAT, c -> c.putFloat(0.5f), 0.5),
        new Case("f", QwpType.DOUBLE, c -> c.putDouble(0.5), 0.5),
        new Case("st", QwpType.VARCHAR, c -> c.putText("ü"), "ü"),
        new Case("sy", QwpType.VARCHAR, c -> c.putText(""), ""),
        new Case("vc", QwpType.SYMBOL, c -> c.putText("s"), "s"),
        new Case("c", QwpType.VARCHAR, c -> c.putText("x"), "x"),
        new Case("vc", QwpType.CHAR, c -> c.putLong('y'), "y"),
        new Case("us", QwpType.DATE, c -> c.putLong(1), "1970-01-01T00:00:00.001000Z"),
        new Case(
            "us", QwpType.TIMESTAMP_NANOS, c -> c.putLong(1999), "1970-01-01T00:00:00.000001Z"),
        new Case("ns", QwpType.TIMESTAMP, c -> c.putLong(1), "1970-01-01T00:00:00.000001000Z"),
        new Case("dec", QwpType.DECIMAL256, c -> c.putDecimal(new BigDecimal("1.500")), "1.50"),
        new Case("dec", QwpType.SHORT, c -> c.putLong(-999), "-999.00"));
  }

  @ParameterizedTest
  @MethodSource("taken")
  void isTakenExactly(Case one) throws IOException {
    long time = ++rowsTaken;
    assertEquals(0, send(cell(one.column(), one.type(), one.value(), time)).status());
    server.awaitRows("typed", time);
    assertEquals(
        one.expected(),
        server.query("SELECT " + one.column() + " FROM typed WHERE timestamp = " + time).get(0)[0]);
  }

  static Stream<Case> refused() {
    return Stream.of(
        new Case("b", QwpType.LONG, c -> c.putLong(128), "row 0: 128 is not within -128 to 127"),
        new Case("i", QwpType.LONG, c -> c.putLong(-2147483648L), "column is INT, row 0"),
        new Case("f", QwpType.LONG, c -> c.putLong((1 << 24) + 1), "column is FLOAT"),
        new Case("f", QwpType.DOUBLE, c -> c.putDouble(0.1), "0.1 is not exact as FLOAT"),
        new Case("l", QwpType.DOUBLE, c -> c.putDouble(1), "sent DOUBLE, the column is LONG"),
        new Case("u", QwpType.VARCHAR, c -> c.putText("x"), "sent VARCHAR, the column is UUID"),
        new Case("c", QwpType.VARCHAR, c -> c.putText("xy"), "column is CHAR, row 0"),
        new Case("ns", QwpType.TIMESTAMP, c -> c.putLong(Long.MAX_VALUE), "out of range"),
        new Case("dt", QwpType.TIMESTAMP, c -> c.putLong(1), "the column is DATE"),
        new Case(
            "dec", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("0.001")), "DECIMAL(5,2)"),
        new Case(
            "dec", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("1000")), "many digits"),
        new Case(
            "g", QwpType.GEOHASH, c -> c.putGeohash(1, 21), "GEOHASH(21b), the column is GEOHASH"),
        new Case(
            "a",
            QwpType.DOUBLE_ARRAY,
            c -> c.putDoubleArray(new double[1], new int[] {1, 1}),
            "sent DOUBLE[][], the column is DOUBLE[]"));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void isRefusedInWords(Case one) throws IOException {
    RawClient.Frame error = send(cell(one.column(), one.type(), one.value(), 1));
    assertEquals(RefusedException.SCHEMA_MISMATCH, error.status());
    assertEquals(0, error.sequence());
    String text = error.text();
    assertTrue(text.startsWith("table 'typed', column '" + one.column() + "': sent "), text);
    assertTrue(text.contains((String) one.expected()), text);
  }

  @Test
  void malformedMessagesAreRefusedByOffset() throws IOException {
    byte[] message = Messages.row("malformed", 1);
    RawClient.Frame error = send(Arrays.copyOf(message, message.length + 1));
    assertEquals(RefusedException.PARSE_ERROR, error.status());
    assertTrue(error.text().startsWith("offset "), error.text());
    for (int length : new int[] {0, 11, 12, message.length - 1}) {
      assertEquals(RefusedException.PARSE_ERROR, send(Arrays.copyOf(message, length)).status());
    }
    assertEquals(0, server.query("SELECT 1 FROM tables() WHERE table_name = 'malformed'").size());
  }

  @Test
  void aGapInTheDictionaryHasItsOwnStatus() throws IOException {
    SymbolDictionary symbols = new SymbolDictionary();
    TableBlock block = new TableBlock("gap", symbols, 127);
    block.column("s", QwpType.SYMBOL).putText("a");
    block.endRow();
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(List.of(block), symbols, 1, 1);
    RawClient.Frame error = send(Arrays.copyOf(encoder.array(), encoder.length()));
    assertEquals(RefusedException.DICTIONARY_GAP, error.status());
  }

  @Test
  void aRefusedMessageLeavesNothingBehind() throws IOException {
    byte[] message =
        Messages.of(
            "half",
            block -> {
              for (int row = 0; row < 3; row++) {
                block.column("x", QwpType.LONG).putLong(row == 2 ? 1000 : 1);
                block.endRow();
              }
            });
    server.sql(
        "CREATE TABLE half (x BYTE, timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY"
            + " WAL");
    RawClient.Frame error = send(message);
    assertEquals(RefusedException.SCHEMA_MISMATCH, error.status());
    assertTrue(error.text().contains("row 2"), error.text());
    assertEquals(
        0,
        send(Messages.of(
                "half",
                block -> {
                  block.column("X", QwpType.BYTE).putLong(7);
                  block.endRow();
                }))
            .status());
    server.awaitRows("half", 1);
    List<Object[]> rows = server.query("SELECT x FROM half");
    assertEquals(1, rows.size());
    assertEquals(7L, rows.get(0)[0], "names are not case-sensitive");
  }

  private static void assertRefused(int status, String text, byte[] message) throws IOException {
    RawClient.Frame error = send(message);
    assertEquals(status, error.status(), () -> error.tables().toString());
    assertEquals(text, error.text());
  }

  private static String notMade(String table) {
    return "failed to create table update details for: " + table;
  }

  @Test
  void tablesThatCannotBe() throws IOException {
    int internal = RefusedException.INTERNAL_ERROR;
    assertRefused(internal, notMade("not/a/table"), Messages.row("not/a/table", "v", 1));
    assertRefused(internal, notMade("bad_column"), Messages.row("bad_column", "a.b", 1));
    server.sql("CREATE VIEW a_view AS (SELECT 1 x)");
    assertRefused(internal, notMade("a_view"), Messages.row("a_view", 1));
    server.sql("CREATE TABLE plain (v LONG)");
    assertRefused(
        RefusedException.SCHEMA_MISMATCH,
        "cannot insert into non-WAL table: plain",
        Messages.row("plain", 1));
    assertEquals(
        0,
        server
            .query("SELECT 1 FROM tables() WHERE table_name IN ('not/a/table', 'bad_column')")
            .size());
  }

  @Test
  void columnsThatCannotBe() throws IOException {
    assertEquals(0, send(Messages.row("some_columns", 1)).status());
    assertRefused(
        RefusedException.SCHEMA_MISMATCH,
        "invalid column name [table=some_columns, column=a.b]",
        Messages.row("some_columns", "a.b", 1));
    for (String table : List.of("some_columns", "long_arrays")) {
      assertRefused(
          RefusedException.SCHEMA_MISMATCH,
          "long arrays are not supported, only double arrays",
          Messages.of(
              table,
              block -> {
                block.column("a", QwpType.LONG_ARRAY).putLongArray(new long[] {1}, new int[] {1});
                block.endRow();
              }));
      assertRefused(
          RefusedException.SCHEMA_MISMATCH,
          "array dimensionality mismatch in QWP batch [column=a, expectedDims=1, actualDims=2]",
          new RawMessage()
              .block(table, 2)
              .column(
                  "a", QwpType.DOUBLE_ARRAY, new byte[] {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0})
              .bytes());
    }
    assertEquals(0, server.query("SELECT 1 FROM tables() WHERE table_name = 'long_arrays'").size());
  }

  @Test
  void anInfinityIsStoredAndReadsAsNull() throws IOException {
    server.sql(
        "CREATE TABLE inf (d DOUBLE, timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY"
            + " WAL");
    byte[] message =
        Messages.of(
            "inf",
            block -> {
              block.column("d", QwpType.DOUBLE).putDouble(1);
              block.designated(QwpType.TIMESTAMP).putLong(1);
              block.endRow();
              block.column("d", QwpType.DOUBLE).putDouble(-1);
              block.designated(QwpType.TIMESTAMP).putLong(2);
              block.endRow();
            });
    // Ours refuses to encode it: the exponent of the second value becomes that of infinity.
    int at = message.length - 2 * Long.BYTES - 1 - 1;
    assertEquals((byte) 0xBF, message[at]);
    message[at] = (byte) 0xFF;
    assertEquals(0, send(message).status());
    server.awaitRows("inf", 2);
    assertEquals(1L, server.query("SELECT count() FROM inf WHERE d IS NULL").get(0)[0]);
    assertEquals(1L, server.query("SELECT count() FROM inf WHERE d < -1e300").get(0)[0]);
    assertNull(server.query("SELECT sum(d) FROM inf").get(0)[0]);
    assertNull(server.query("SELECT min(d) FROM inf").get(0)[0]);
  }

  @Test
  void aTimeBefore1970IsTheEnginesToRefuse() throws IOException {
    byte[] message = Messages.row("early", 1);
    // Ours refuses to encode it; the time is what the message ends with.
    java.util.Arrays.fill(message, message.length - Long.BYTES, message.length, (byte) -1);
    RawClient.Frame error = send(message);
    assertEquals(RefusedException.WRITE_ERROR, error.status());
    assertTrue(error.text().contains("before 1970"), error.text());
  }

  @Test
  void nanosecondsMakeANanosecondTable() throws IOException {
    byte[] message =
        Messages.of(
            "nanos",
            block -> {
              block.designated(QwpType.TIMESTAMP_NANOS).putLong(1_000_000_001);
              block.endRow();
            });
    assertEquals(0, send(message).status());
    server.awaitRows("nanos", 1);
    assertEquals(
        "1970-01-01T00:00:01.000000001Z", server.query("SELECT timestamp FROM nanos").get(0)[0]);
  }

  @Test
  void connectionsMayAddTheSameColumnsAtOnce() {
    List<CompletableFuture<Integer>> all =
        IntStream.range(0, 8)
            .mapToObj(
                n ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          try {
                            return send(Messages.of(
                                    "racing",
                                    block -> {
                                      for (int c = 0; c < 10; c++) {
                                        block.column("c" + c, QwpType.LONG).putLong(n);
                                      }
                                      block.endRow();
                                    }))
                                .status();
                          } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                          }
                        }))
            .toList();
    all.forEach(status -> assertEquals(0, status.join()));
    server.awaitRows("racing", 8);
    assertEquals(28L, server.query("SELECT sum(c9) FROM racing").get(0)[0]);
  }

  @Test
  void framesThatAreNoMessagesEndTheConnection() throws IOException {
    for (int[] frame : new int[][] {{0x81, 1003}, {0x02, 1002}, {0x80, 1002}}) {
      try (RawClient client = RawClient.open(server.port())) {
        client.frame(frame[0], new byte[] {1});
        RawClient.Frame close = client.read();
        assertEquals(RawClient.CLOSE, close.opcode());
        assertEquals(frame[1], close.closeCode());
      }
    }
  }
}
