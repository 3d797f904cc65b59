package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/**
 * What is not taken, with which status and which words. What becomes of each wire type in each type
 * of column is {@code conformance/test_matrix.py}'s to test.
 */
@Timeout(60)
class RefusalTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static RawClient.Frame send(byte[] message) throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(message);
      return client.read();
    }
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
    assertEquals(
        "integer value 1000 out of range for BYTE [column=x, min=-128, max=127]", error.text());
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
    server.sql("CREATE TABLE viewed (v LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    server.sql(
        "CREATE MATERIALIZED VIEW mat_view AS (SELECT ts, sum(v) s FROM viewed SAMPLE BY 1h)"
            + " PARTITION BY DAY");
    assertRefused(internal, notMade("mat_view"), Messages.row("mat_view", 1));
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
          new RawMessage()
              .block(table, 1)
              .column("a", QwpType.LONG_ARRAY, new byte[] {1, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0})
              .bytes());
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
  void aNewDecimalOfMoreDecimalsThanDigits() throws IOException {
    byte[] scaleAndOne = {19, 1, 0, 0, 0, 0, 0, 0, 0};
    RawClient.Frame error =
        send(new RawMessage().block("fine", 1).column("x", QwpType.DECIMAL64, scaleAndOne).bytes());
    assertEquals(RefusedException.SCHEMA_MISMATCH, error.status());
    assertTrue(error.text().contains("DECIMAL64 of scale 19"), error.text());
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
}
