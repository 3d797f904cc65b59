package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.QwpType;

/** Limits of a connection and of what a table holds uncommitted, as seen on the real server. */
@Timeout(120)
class LimitsTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** Rows of one BOOLEAN, at the server's time. */
  private static byte[] booleans(String table, int rows) {
    return new RawMessage()
        .block(table, rows)
        .column("b", QwpType.BOOLEAN, new byte[(rows + 7) / 8])
        .bytes();
  }

  private static Map<String, Long> assertOk(long sequence, RawClient client) throws IOException {
    RawClient.Frame ok = client.read();
    assertEquals(0, ok.status(), ok::text);
    assertEquals(sequence, ok.sequence());
    return ok.tables();
  }

  private static void assertRefused(int status, String text, RawClient client) throws IOException {
    RawClient.Frame error = client.read();
    assertEquals(status, error.status(), () -> error.tables().toString());
    assertEquals(text, error.text());
  }

  @Test
  void aMillionRowsInAMessageAreAcknowledgedWithoutTheirTable() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(booleans("million", 999_999));
      assertEquals(Map.of("million", 1L), assertOk(0, client));
      client.message(booleans("million", 1_000_000));
      assertEquals(Map.of(), assertOk(1, client));
    }
    server.awaitRows("million", 1_999_999);
  }

  @Test
  void aMillionRowsStayThoughTheirMessageIsRefused() throws IOException {
    byte[] message =
        new RawMessage()
            .block("million_refused", 1_000_000)
            .column("b", QwpType.BOOLEAN, new byte[125_000])
            .block("not/a/table", 1)
            .column("v", QwpType.LONG, 1)
            .bytes();
    try (RawClient client = RawClient.open(server.port())) {
      client.message(message);
      assertRefused(
          RefusedException.INTERNAL_ERROR,
          "failed to create table update details for: not/a/table",
          client);
    }
    server.awaitRows("million_refused", 1_000_000);
  }

  @Test
  void aGroupOfMoreThanAMillionRowsIsCommittedAndNotAcknowledged() throws IOException {
    byte[] deferred = Messages.deferred(booleans("group", 600_000));
    try (RawClient client = RawClient.open(server.port())) {
      client.message(deferred);
      client.message(deferred);
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode(), "no acknowledgement");
      server.awaitRows("group", 1_200_000);
      client.message(Messages.commit());
      assertEquals(Map.of(), assertOk(2, client), "nothing was left to commit");
      client.message(Messages.deferred(booleans("group", 10)));
      client.message(Messages.commit());
      assertEquals(Map.of("group", 2L), assertOk(4, client));
    }
  }

  @Test
  void theDictionaryHasAMillionSymbols() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(new RawMessage().symbols(1_000_000).bytes());
      assertEquals(Map.of(), assertOk(0, client));
      client.message(new RawMessage().symbolsFrom(1_000_000).symbols(1).bytes());
      assertRefused(
          RefusedException.PARSE_ERROR,
          "delta symbol dictionary size exceeds limit: 1000001",
          client);
    }
  }

  @Test
  void aConnectionWritesToSoManyTables() throws IOException {
    server.script().maxTables(2);
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("table_1", 1));
      assertEquals(Map.of("table_1", 1L), assertOk(0, client));
      client.message(Messages.row("table_2", 1));
      assertEquals(Map.of("table_2", 1L), assertOk(1, client));
      client.message(Messages.row("TABLE_1", 2));
      assertEquals(Map.of("table_1", 2L), assertOk(2, client));
      client.message(Messages.row("table_3", 1));
      assertRefused(RefusedException.WRITE_ERROR, "too many distinct tables, limit: 2", client);
    } finally {
      server.script().reset();
    }
    try (RawClient client = RawClient.open(server.port())) {
      for (int table = 1; table <= 257; table++) {
        client.message(Messages.deferred(Messages.row("table_" + table, 3)));
      }
      client.message(Messages.commit());
      assertEquals(257, assertOk(257, client).size());
    }
  }
}
