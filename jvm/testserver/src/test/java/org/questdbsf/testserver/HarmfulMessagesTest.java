package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.QwpType;

/**
 * Messages that are acknowledged and harm the table, as they do on the real server, where all
 * expectations were seen. A client may never send them.
 */
@Timeout(60)
class HarmfulMessagesTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static void createTable(String table) {
    server.sql(
        "CREATE TABLE " + table + " (v LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
  }

  private static Map<String, Long> send(RawClient client, byte[] message) throws IOException {
    client.message(message);
    RawClient.Frame ok = client.read();
    assertEquals(0, ok.status(), ok::text);
    return ok.tables();
  }

  /** All rows in their order, as v and microseconds since 1970. */
  private static List<List<Object>> rows(String table, long rows) {
    server.awaitRows(table, rows);
    return server.query("SELECT v, ts::LONG FROM " + table).stream().map(List::of).toList();
  }

  @Test
  void aColumnCalledTimestampMakesATableThatCannotBeRead() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      byte[] message = Messages.row("two_timestamps", "Timestamp", 1);
      assertEquals(Map.of("two_timestamps", 1L), send(client, message));
      assertEquals(Map.of("two_timestamps", 2L), send(client, message));
    }
    for (String query :
        List.of("SELECT * FROM two_timestamps", "SELECT * FROM table_columns('two_timestamps')")) {
      String refusal =
          assertThrows(IllegalArgumentException.class, () -> server.sql(query)).getMessage();
      assertTrue(refusal.startsWith("HTTP 400"), refusal);
      assertTrue(refusal.contains("Invalid metadata at fd="), refusal);
      assertTrue(refusal.contains("Duplicate column [name=timestamp]"), refusal);
    }
    server.sql("DROP TABLE two_timestamps");
  }

  @Test
  void theDesignatedTimestampTwiceMovesTheTimesOfLaterMessages() throws IOException {
    createTable("twice");
    try (RawClient client = RawClient.open(server.port())) {
      send(client, Messages.rows("twice", 1, 2));
      send(
          client,
          new RawMessage()
              .block("twice", 2)
              .column("v", QwpType.LONG, 11, 12)
              .column("", QwpType.TIMESTAMP, 1000, 2000)
              .column("ts", QwpType.TIMESTAMP, 5000, 6000)
              .bytes());
      send(client, Messages.row("twice", 7000));
      send(client, Messages.row("twice", 8000));
      assertEquals(
          List.of(
              List.of(1L, 1L),
              List.of(2L, 2L),
              List.of(11L, 1000L),
              List.of(12L, 5000L),
              List.of(7000L, 6000L),
              List.of(8000L, 7000L)),
          rows("twice", 6));
    }
  }

  @Test
  void theDesignatedTimestampAsAnotherTypeIsTakenAsItIs() throws IOException {
    createTable("raw_times");
    try (RawClient client = RawClient.open(server.port())) {
      for (QwpType type : List.of(QwpType.DATE, QwpType.LONG)) {
        send(
            client,
            new RawMessage()
                .block("raw_times", 1)
                .column("v", QwpType.LONG, type.code())
                .column("TS", type, 1_700_000_000_000L + type.code())
                .bytes());
      }
      assertEquals(
          List.of(List.of(5L, 1_700_000_000_005L), List.of(11L, 1_700_000_000_011L)),
          rows("raw_times", 2));
    }
  }

  @Test
  void aDesignatedTimestampThatIsNoTimeIsRefused() throws IOException {
    createTable("no_times");
    String[] expected = {
      "06 unexpected error: class SYMBOL cannot be cast to class TIMESTAMP",
      "09 designated timestamp of type INT: not read by this server",
      "09 designated timestamp column cannot be NULL",
      "09 designated timestamp before 1970-01-01 is not allowed",
      "09 designated timestamp beyond 9999-12-31 is not allowed"
    };
    byte[][] messages = {
      new RawMessage()
          .symbols(1)
          .block("no_times", 1)
          .column("ts", QwpType.SYMBOL, new byte[1])
          .bytes(),
      new RawMessage().block("no_times", 1).column("ts", QwpType.INT, new byte[4]).bytes(),
      new RawMessage().block("no_times", 1).column("", QwpType.TIMESTAMP, Long.MIN_VALUE).bytes(),
      new RawMessage().block("no_times", 1).column("", QwpType.TIMESTAMP, -1).bytes(),
      new RawMessage().block("no_times", 1).column("ts", QwpType.DOUBLE, 1L << 62).bytes()
    };
    for (int i = 0; i < messages.length; i++) {
      try (RawClient client = RawClient.open(server.port())) {
        client.message(messages[i]);
        RawClient.Frame error = client.read();
        assertEquals(expected[i], "0" + error.status() + " " + error.text());
      }
    }
  }
}
