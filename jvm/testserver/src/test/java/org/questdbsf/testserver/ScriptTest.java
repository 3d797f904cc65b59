package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each thing that a script can ask for; the second port, without a script, stays healthy. */
@Timeout(60)
class ScriptTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start(TestServerOptions.defaults().withPorts(0, 0));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void healthyAgain() {
    server.script().reset();
  }

  private static RawClient open(String... headers) throws IOException {
    RawClient client = RawClient.open(server.port(), headers);
    assertEquals(101, client.status());
    return client;
  }

  @Test
  void acknowledgementsAreDelayedInOrder() throws IOException {
    server.script().ackDelayMillis(300);
    try (RawClient client = open()) {
      long start = System.nanoTime();
      client.message(Messages.row("delayed", 1));
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode(), "a PONG is not delayed");
      client.message(Messages.row("delayed", 2));
      assertEquals(0, client.read().sequence());
      assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(300));
      server.script().ackDelayMillis(0);
      client.message(new byte[] {1});
      assertEquals(1, client.read().sequence(), "still before the error behind it");
      assertEquals(RefusedException.PARSE_ERROR, client.read().status());
    }
  }

  @Test
  void heldAcknowledgementsShowAsUnacknowledgedRows() throws IOException {
    server.script().holdAcks(true);
    try (RawClient client = open()) {
      client.message(Messages.rows("held", 0, 5));
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode());
      assertEquals(5, server.counters().rowsUnacked());
      assertEquals(5, server.counters(0).rowsUnacked());
      assertEquals(0, server.counters(1).rowsReceived());
      server.script().holdAcks(false);
      assertEquals(0, client.read().sequence());
      assertEquals(0, server.counters().rowsUnacked());
    }
  }

  @Test
  void rowsOfAnEndedConnectionAreOwedToNobody() throws Exception {
    server.script().holdAcks(true);
    try (RawClient client = open()) {
      client.message(Messages.rows("owed", 0, 5));
      client.ping();
      client.read();
    }
    while (server.counters().rowsUnacked() != 0 || server.counters().connections() != 0) {
      Thread.sleep(5);
    }
  }

  @Test
  void oneAcknowledgementForSoManyMessages() throws IOException {
    server.script().ackEvery(20);
    try (RawClient client = open()) {
      for (int i = 0; i < 20; i++) {
        client.message(Messages.row("every", i));
      }
      assertEquals(19, client.read().sequence());
    }
  }

  @Test
  void messagesOfATableAreRefusedSoManyTimes() throws IOException {
    server.script().nack(new NackRule(0x09, "disk full", "refused", 1, 2));
    for (int connection = 0; connection < 2; connection++) {
      try (RawClient client = open()) {
        client.message(Messages.row("accepted", connection));
        assertEquals(0, client.read().status());
        if (connection == 0) {
          client.message(Messages.row("refused", 0));
          assertEquals(0, client.read().status(), "one is let through");
        }
        client.message(Messages.row("refused", 1));
        RawClient.Frame error = client.read();
        assertEquals(0x09, error.status());
        assertEquals("disk full", error.text());
        client.message(Messages.row("accepted", 100));
        client.ping();
        assertEquals(RawClient.PONG, client.read().opcode(), "no effect after an error");
      }
    }
    try (RawClient client = open()) {
      client.message(Messages.row("refused", 2));
      assertEquals(0, client.read().status());
    }
    server.awaitRows("refused", 2);
    server.awaitRows("accepted", 2);
    assertEquals(2, server.query("SELECT v FROM accepted").size());
  }

  @Test
  void theConnectionEndsAfterSoManyMessages() throws IOException {
    server.script().holdAcks(true).close(new CutRule(1011, "reason", 2, 1));
    try (RawClient client = open()) {
      client.message(Messages.row("cut", 1));
      client.message(Messages.row("cut", 2));
      client.message(Messages.row("cut", 3));
      RawClient.Frame close = client.read();
      assertEquals(RawClient.CLOSE, close.opcode());
      assertEquals(1011, close.closeCode());
      client.sendClose(1011);
      assertThrows(EOFException.class, client::read);
    }
    server.script().holdAcks(false);
    try (RawClient client = open()) {
      for (int i = 0; i < 3; i++) {
        client.message(Messages.row("cut", 10));
        assertEquals(i, client.read().sequence(), "one connection only");
      }
    }
    server.awaitRows("cut", 5);
    assertEquals(5, server.query("SELECT v FROM cut").size(), "the third row had no effect");
  }

  @Test
  void theConnectionIsResetWithoutAWord() throws IOException {
    server.script().drop(CutRule.drop(1));
    try (RawClient client = open()) {
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode());
      client.message(Messages.row("reset", 1));
      assertThrows(SocketException.class, client::read, "RST, not FIN");
    }
    server.awaitRows("reset", 1);
  }

  @Test
  void openConnectionsAreResetAtOnce() throws IOException {
    try (RawClient client = open()) {
      client.message(Messages.row("reset_now", 1));
      client.read();
      server.script().drop(CutRule.drop(0));
      assertThrows(SocketException.class, client::read);
    }
  }

  @Test
  void upgradesAreRefused() throws IOException {
    server.script().role("REPLICA").refuse(421, Map.of(), 1);
    try (RawClient client = RawClient.open(server.port())) {
      assertEquals(421, client.status());
      assertEquals("REPLICA", client.header("X-QuestDB-Role"));
    }
    server.script().refuse(503, Map.of("Retry-After", "7"));
    try (RawClient client = RawClient.open(server.port())) {
      assertEquals(503, client.status());
      assertEquals("7", client.header("Retry-After"));
      assertNull(client.header("X-QuestDB-Role"));
    }
    server.script().refuse(0, null).role("PRIMARY");
    try (RawClient client = open()) {
      assertEquals("PRIMARY", client.header("X-QuestDB-Role"));
    }
    try (RawClient other = RawClient.open(server.port(1))) {
      assertEquals("STANDALONE", other.header("X-QuestDB-Role"), "a port of its own");
    }
  }

  @Test
  void messagesOverTheCapEndTheConnection() throws IOException {
    server.script().maxBatchBytes(1000);
    try (RawClient client = open()) {
      assertEquals("1000", client.header("X-QWP-Max-Batch-Size"));
      client.message(Messages.row("cap", 1));
      assertEquals(0, client.read().sequence());
      client.message(Messages.rows("cap", 0, 1000));
      assertEquals(1009, client.read().closeCode());
    }
    server.script().maxBatchBytes(0);
    try (RawClient client = open()) {
      assertNull(client.header("X-QWP-Max-Batch-Size"));
    }
  }

  @Test
  void durableAcknowledgementsAreWithheldAndReleased() throws IOException {
    server.script().grantDurableAcks(true).holdDurableAcks(true);
    try (RawClient client = open("X-QWP-Request-Durable-Ack: true")) {
      assertEquals("enabled", client.header("X-QWP-Durable-Ack"));
      client.message(Messages.row("durable", 1));
      RawClient.Frame ok = client.read();
      assertEquals(0, ok.status());
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode());
      server.script().holdDurableAcks(false);
      RawClient.Frame durable = client.read();
      assertEquals(2, durable.status());
      assertEquals(ok.tables(), durable.tables());
      client.message(Messages.row("durable", 2));
      assertEquals(0, client.read().status());
      assertEquals(2, client.read().status());
    }
    try (RawClient client = open()) {
      assertNull(client.header("X-QWP-Durable-Ack"), "only where it is asked for");
    }
  }

  @Test
  void silenceEndsAndNothingIsLost() throws IOException {
    try (RawClient client = open();
        Socket late = new Socket("127.0.0.1", server.port())) {
      server.script().silent(true);
      client.message(Messages.row("silent", 1));
      client.ping();
      RawClient waiting = RawClient.send(late);
      assertTrue(client.isQuiet(300));
      assertTrue(waiting.isQuiet(1));
      server.script().silent(false);
      assertEquals(0, client.read().sequence());
      assertEquals(RawClient.PONG, client.read().opcode());
      waiting.readHead();
      assertEquals(101, waiting.status());
    }
  }

  @Test
  void upgradesAreDelayed() throws IOException {
    server.script().upgradeDelayMillis(200);
    long start = System.nanoTime();
    try (RawClient client = open()) {
      assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(200));
    }
  }

  @Test
  void jsonSaysTheSame() throws IOException {
    server
        .script()
        .apply(
            """
            {"hold_acks": null, "role": "PRIMARY", "max_batch_bytes": 5000,
             "nack": {"status": 3, "message": "no", "table": "json", "times": 1},
             "durable_acks": {"grant": true}}
            """);
    try (RawClient client = open("X-QWP-Request-Durable-Ack: true")) {
      assertEquals("PRIMARY", client.header("X-QuestDB-Role"));
      assertEquals("5000", client.header("X-QWP-Max-Batch-Size"));
      assertEquals("enabled", client.header("X-QWP-Durable-Ack"));
      client.message(Messages.row("json", 1));
      assertEquals(3, client.read().status());
    }
    server.script().apply("{\"reset\": true, \"drop_after_messages\": 1, \"drop_times\": 1}");
    try (RawClient client = open()) {
      assertEquals("STANDALONE", client.header("X-QuestDB-Role"));
      client.message(Messages.row("json", 1));
      assertThrows(SocketException.class, client::read);
    }
    for (String wrong :
        Set.of("{\"nak\": {}}", "[]", "{\"hold_acks\": 1}", "{\"role\": \"x\"", "{\"close\":3}")) {
      assertThrows(IllegalArgumentException.class, () -> server.script().apply(wrong), wrong);
    }
    assertFalse(server.script().acksHeld());
  }
}
