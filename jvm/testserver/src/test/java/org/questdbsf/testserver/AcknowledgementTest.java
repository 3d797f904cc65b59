package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Order, cumulation and commit of messages: what a healthy server does. */
@Timeout(60)
class AcknowledgementTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static RawClient.Frame readUntil(RawClient client, long sequence) throws IOException {
    RawClient.Frame frame = client.read();
    while (frame.status() == 0 && frame.sequence() < sequence) {
      frame = client.read();
    }
    return frame;
  }

  @Test
  void helloSaysWhatTheServerIs() throws IOException {
    try (RawClient client = RawClient.open(server.port(), "X-QWP-Request-Durable-Ack: true")) {
      assertEquals(101, client.status());
      assertEquals("1", client.header("X-QWP-Version"));
      assertEquals("2097138", client.header("X-QWP-Max-Batch-Size"));
      assertEquals("STANDALONE", client.header("X-QuestDB-Role"));
      assertEquals(null, client.header("X-QWP-Durable-Ack"), "not granted unless scripted");
      assertEquals("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", client.header("Sec-WebSocket-Accept"));
    }
  }

  @Test
  void oksAreCumulativeAndNameTables() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      for (int i = 0; i < 100; i++) {
        client.message(Messages.row("cumulative_" + i % 2, i));
      }
      long covered = -1;
      long seqTxn = 0;
      int oks = 0;
      while (covered < 99) {
        RawClient.Frame ok = client.read();
        assertEquals(0, ok.status());
        assertTrue(ok.sequence() > covered);
        assertTrue(ok.sequence() - covered <= 8, "an OK at the latest every 8 messages");
        assertTrue(Set.of("cumulative_0", "cumulative_1").containsAll(ok.tables().keySet()));
        assertTrue(ok.tables().values().stream().allMatch(txn -> txn > 0));
        covered = ok.sequence();
        seqTxn = ok.tables().getOrDefault("cumulative_0", seqTxn);
        oks++;
      }
      assertTrue(oks >= 13);
      assertEquals(
          seqTxn,
          server.query("SELECT sequencerTxn FROM wal_tables() WHERE name = 'cumulative_0'")
              .get(0)[0]);
    }
    server.awaitRows("cumulative_0", 50);
    server.awaitRows("cumulative_1", 50);
  }

  @Test
  void heldBackOksComeOnPingBeforeThePong() throws IOException {
    server.script().ackEvery(1000);
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("ping", 1));
      client.message(Messages.row("ping", 2));
      client.ping();
      assertEquals(1, client.read().sequence());
      RawClient.Frame pong = client.read();
      assertEquals(RawClient.PONG, pong.opcode());
      assertEquals(3, pong.payload().length);
    } finally {
      server.script().reset();
    }
  }

  @Test
  void heldBackOksComeBeforeTheCloseIsAnswered() throws IOException {
    server.script().ackEvery(1000);
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("closing", 1));
      client.sendClose(1000);
      assertEquals(0, client.read().sequence());
      RawClient.Frame close = client.read();
      assertEquals(RawClient.CLOSE, close.opcode());
      assertEquals(1000, close.closeCode());
      assertThrows(IOException.class, client::read);
    } finally {
      server.script().reset();
    }
  }

  @Test
  void deferredRowsAreCommittedAndAcknowledgedWithTheNextMessage() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.deferred(Messages.row("deferred", 1)));
      client.message(Messages.deferred(Messages.row("deferred", 2)));
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode(), "nothing to acknowledge yet");
      client.message(Messages.commit());
      RawClient.Frame ok = client.read();
      assertEquals(2, ok.sequence());
      assertEquals(Set.of("deferred"), ok.tables().keySet());
    }
    server.awaitRows("deferred", 2);
  }

  @Test
  void theMessageThatClosesAGroupIsAcknowledgedAtOnce() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.messages(
          Messages.row("closes_group", 1),
          Messages.deferred(Messages.row("closes_group", 2)),
          Messages.deferred(Messages.row("closes_group", 3)),
          Messages.row("closes_group", 4),
          Messages.row("closes_group", 5));
      RawClient.Frame closing = client.read();
      assertEquals(3, closing.sequence());
      assertEquals(Map.of("closes_group", 2L), closing.tables());
      assertEquals(4, client.read().sequence());
    }
  }

  @Test
  void tablesAreNamedAsTheyAreSpelled() throws IOException {
    server.sql(
        "CREATE TABLE \"Spelled\" (v LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("sPELLED", 1));
      assertEquals(Map.of("Spelled", 1L), client.read().tables());
      client.message(Messages.row("spelled", 2));
      assertEquals(Map.of("Spelled", 2L), client.read().tables());
    }
  }

  @Test
  void theNumberIsTheConnectionsOwnCommit() throws IOException {
    server.script().ackEvery(1000);
    try (RawClient client = RawClient.open(server.port());
        RawClient other = RawClient.open(server.port())) {
      client.message(Messages.row("own_number", 1));
      client.ping();
      assertEquals(Map.of("own_number", 1L), client.read().tables());
      client.read();
      client.message(Messages.row("own_number", 2));
      server.awaitRows("own_number", 2);
      other.message(Messages.row("own_number", 3));
      server.awaitRows("own_number", 3);
      client.ping();
      assertEquals(Map.of("own_number", 2L), client.read().tables());
    } finally {
      server.script().reset();
    }
  }

  @Test
  void aBlockWithoutRowsIsNotNamedAndMakesNoColumn() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("no_rows", 1));
      assertEquals(Map.of("no_rows", 1L), client.read().tables());
      client.message(Messages.withoutRows("no_rows", "w"));
      assertEquals(Map.of(), client.read().tables());
      client.message(Messages.withoutRows("no_rows_at_all", "w"));
      assertEquals(Map.of(), client.read().tables());
    }
    assertEquals(
        List.of("v", "timestamp"),
        server.query("SELECT \"column\" FROM table_columns('no_rows')").stream()
            .map(row -> row[0])
            .toList());
    assertEquals(
        List.of("w", "timestamp"),
        server.query("SELECT \"column\" FROM table_columns('no_rows_at_all')").stream()
            .map(row -> row[0])
            .toList());
  }

  @Test
  void deferredRowsOfALostConnectionAreNotKept() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("lost", 1));
      assertEquals(0, client.read().sequence());
      client.message(Messages.deferred(Messages.row("lost", 2)));
      client.ping();
      client.read();
    }
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("lost", 3));
      assertEquals(0, client.read().sequence());
    }
    server.awaitRows("lost", 2);
    assertEquals(2, server.query("SELECT v FROM lost").size());
  }

  @Test
  void catchUpMessagesAreAcknowledgedWithoutTables() throws IOException {
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.commit());
      RawClient.Frame ok = client.read();
      assertEquals(0, ok.sequence());
      assertEquals(Map.of(), ok.tables());
    }
  }

  @Test
  void replaysAreCountedAndRemovedByDedupOnly() throws IOException {
    server.sql(
        "CREATE TABLE keyed (v LONG, timestamp TIMESTAMP) TIMESTAMP(timestamp)"
            + " PARTITION BY DAY WAL DEDUP UPSERT KEYS(timestamp, v)");
    long before = server.counters().rowsReceived();
    for (int replay = 0; replay < 3; replay++) {
      try (RawClient client = RawClient.open(server.port())) {
        client.message(Messages.rows("keyed", 0, 10));
        client.message(Messages.rows("unkeyed", 0, 10));
        readUntil(client, 1);
      }
    }
    server.awaitRows("unkeyed", 30);
    server.awaitRows("keyed", 10);
    assertEquals(10L, server.query("SELECT count() FROM keyed").get(0)[0]);
    assertEquals(60, server.counters().rowsReceived() - before);
  }
}
