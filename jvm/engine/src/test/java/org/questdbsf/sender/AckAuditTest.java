package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.TableTxn;

/** What a sender does with an OK that does not account for its frames. */
@Timeout(30)
class AckAuditTest {
  private final List<SenderError> told = new CopyOnWriteArrayList<>();

  /** A gate that looks at tables and finds what a test says. */
  private static class Looks implements ConnectionGate {
    final AtomicInteger asked = new AtomicInteger();
    final List<String> unproven = new CopyOnWriteArrayList<>();
    volatile Look found = Look.SAME;

    @Override
    public void admit(Endpoint endpoint) {}

    @Override
    public long version() {
      return 0;
    }

    @Override
    public boolean identifiesTables(Endpoint endpoint) {
      return true;
    }

    @Override
    public void unproven(Endpoint endpoint, String table) {
      unproven.add(table);
    }

    @Override
    public Look admitAgain(Endpoint endpoint, long since) {
      asked.incrementAndGet();
      return found;
    }
  }

  private SenderBuilder builder(ScriptServer server, String keys) {
    return Senders.builder(server.address(), keys).errorHandler(told::add);
  }

  /** The third frame of the first connection is lost. */
  private static Recorder losesTheThird() {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() == 0 && n == 2) {
                session.okNaming(sequence);
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    return self[0];
  }

  @Test
  void aFrameThatAnOkDoesNotAccountForIsSentAgainThroughANewConnection() throws Exception {
    Recorder script = losesTheThird();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, "").build()) {
      for (int n = 0; n < 5; n++) {
        sender.awaitAcked(Senders.publish(sender, "t", n, n + 1));
      }
      script.database.assertComplete("t", 5);
      assertEquals(
          List.of(List.of(0L, 1L, 2L), List.of(Recorder.DICTIONARY, 2L, 3L, 4L)),
          script.connections);
      assertEquals(1, sender.counters().acksRejected());
      assertEquals(1L, sender.counters().snapshot().get("acks_rejected"));
      assertTrueEventually(() -> told.size() == 1, "told");
    }
    assertEquals(1, told.size(), told.toString());
    SenderError error = told.get(0);
    assertEquals(Category.PROTOCOL_VIOLATION, error.category());
    assertEquals(Policy.RETRY, error.policy());
    assertEquals("t", error.table());
    assertEquals(2, error.fromFsn());
    assertEquals(2, error.toFsn());
    assertTrue(error.message().contains("frames 2 to 2"), error.message());
  }

  /** Five frames, one OK, four transactions: which one is lost cannot be told, so all go again. */
  @Test
  void nothingOfAnOkThatNamesTooFewTransactionsCounts() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() > 0 || n == 0) {
                self[0].accept(session, sequence, message);
              } else if (n == 5) {
                session.okNaming(sequence, new TableTxn("t", 4));
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").build()) {
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
      for (int n = 1; n < 6; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(5);
      self[0].database.assertComplete("t", 6);
      assertEquals(List.of(Recorder.DICTIONARY, 1L, 2L, 3L, 4L, 5L), self[0].connections.get(1));
    }
  }

  /** Nothing tells how many of several first commits were lost, so there is one at first. */
  @Test
  void theSecondFrameOfATableWaitsForTheOkOfTheFirst() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() > 0) {
                self[0].accept(session, sequence, message);
              } else if (n == 10) {
                session.okNaming(1, new TableTxn("t", 1_000_000), new TableTxn("u", 1_000_000));
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").build()) {
      Senders.publish(sender, "t", 0, 1);
      Senders.publish(sender, "u", 10, 11);
      Senders.publish(sender, "t", 1, 2);
      Senders.publish(sender, "t", 2, 3);
      assertTrueEventually(() -> sender.ackedFsn() == 1, "the first two are acknowledged");
      assertTrueEventually(() -> self[0].all().size() == 4, "then the others are sent");
      server.run(() -> server.open.get(0).okNaming(3, new TableTxn("t", 1_000_001)));
      sender.awaitAcked(3);
      assertEquals(1, sender.counters().acksRejected(), "one commit is missing");
      assertEquals(List.of(Recorder.DICTIONARY, 1L, 2L), self[0].connections.get(1));
    }
  }

  @Test
  void aServerThatDoesNotAcknowledgeAtOnceIsNotWaitedForForEver() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              self[0].database.accept(message);
              if (n == 4) {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").build()) {
      for (int n = 0; n < 5; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(4);
      self[0].database.assertComplete("t", 5);
    }
  }

  @Test
  void aDropIsNoticedInDurableMode() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              session.ok(sequence);
              session.durable(new TableTxn("t", 100)); // of the table that was dropped
            });
    self[0].upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Durable-Ack", "enabled");
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender =
            builder(server, "request_durable_ack=on;close_flush_timeout_millis=0;").build()) {
      server.transactions.put("t", 98L);
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
      server.transactions.remove("t");
      Senders.publish(sender, "t", 1, 2);
      assertTrueEventually(() -> sender.counters().acksRejected() == 1, "counts anew");
    }
  }

  /** Small numbers prove nothing where others may have written to a new table of the name. */
  @Test
  void anOpenOkWaitsForALook() throws Exception {
    Looks gate = new Looks();
    gate.found = ConnectionGate.Look.UNKNOWN;
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(gate).build()) {
      Senders.publish(sender, "t", 0, 1);
      assertTrueEventually(() -> gate.asked.get() >= 2, "asked again");
      assertEquals(-1, sender.ackedFsn());
      gate.found = ConnectionGate.Look.SAME;
      sender.awaitAcked(0);
      assertEquals(1, self[0].connections.size());
    }
  }

  /** It was made for another lane, and the table may have been replaced since. */
  @Test
  void aLookThatIsOlderThanAnOpenOkDoesNotSettleIt() throws Exception {
    long began = System.nanoTime();
    AtomicInteger old = new AtomicInteger();
    Looks gate =
        new Looks() {
          @Override
          public boolean isDue(boolean quiet, long now) {
            return true;
          }

          @Override
          public long mayBeOld(boolean quiet) {
            return TimeUnit.HOURS.toNanos(1);
          }

          @Override
          public Look admitAgain(Endpoint endpoint, long since) {
            if (since - began >= 0) {
              return super.admitAgain(endpoint, since);
            }
            old.incrementAndGet();
            return Look.SAME;
          }
        };
    gate.found = ConnectionGate.Look.UNKNOWN;
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(gate).build()) {
      Senders.publish(sender, "t", 0, 1);
      assertTrueEventually(() -> gate.asked.get() > 0, "the OK is open");
      int n = 1;
      for (int before = old.get(); old.get() < before + 3; n++) {
        Senders.publish(sender, "t", n, n + 1);
        long sent = n + 1;
        assertTrueEventually(() -> sender.counters().framesSent() == sent, "sent");
      }
      assertEquals(-1, sender.ackedFsn());
      gate.found = ConnectionGate.Look.SAME;
      sender.awaitAcked(n - 1);
    }
  }

  /** The refusal is of the head then, and what was acknowledged is not sent again. */
  @Test
  void anOpenOkIsSettledBeforeARefusalIsJudged() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() == 0 && n == 1) {
                session.ok(sequence - 1);
                session.nack(0x09, sequence, "not now");
              } else if (n > 0) {
                self[0].accept(session, sequence, message);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(new Looks()).build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(Senders.publish(sender, "t", 1, 2));
      assertEquals(List.of(Recorder.DICTIONARY, 1L), self[0].connections.get(1));
      assertTrueEventually(() -> told.size() == 1, "the refusal of the head");
    }
  }

  @Test
  void anOpenOkOfAReplacedTableCountsNothing() throws Exception {
    Looks gate = new Looks();
    gate.found = ConnectionGate.Look.REPLACED;
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() > 0) {
                gate.found = ConnectionGate.Look.SAME;
              }
              self[0].accept(session, sequence, message);
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(gate).build()) {
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
      assertEquals(List.of(List.of(0L), List.of(0L)), self[0].connections);
    }
  }

  /** No look for a table that is older than any new one could be. */
  @Test
  void highNumbersNeedNoLook() throws Exception {
    Looks gate = new Looks();
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(gate).build()) {
      server.transactions.put("t", 1L << 40);
      for (int n = 0; n < 50; n++) {
        sender.awaitAcked(Senders.publish(sender, "t", n, n + 1));
      }
      assertEquals(0, gate.asked.get());
    }
  }

  @Test
  void aServerThatNeverNamesTablesIsBelievedAndSaidSo() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              self[0].database.accept(message);
              session.okNaming(sequence);
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").build()) {
      for (int n = 0; n < 20; n++) {
        sender.awaitAcked(Senders.publish(sender, "t", n, n + 1));
      }
      assertEquals(3, self[0].connections.size());
      assertEquals(2, sender.counters().acksRejected());
      try (Sender another = builder(server, "").build()) {
        another.awaitAcked(Senders.publish(another, "t", 20, 21));
        assertEquals(0, another.counters().acksRejected(), "known in this JVM");
      }
    }
    assertEquals(
        1, told.stream().filter(e -> e.message().contains("without naming")).count(), told + "");
  }

  /** It names tables, but not this one: the frame is poison, not the tables' fault. */
  @Test
  void aFrameThatIsNeverAccountedForEndsTheSender() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n > 0) {
                session.okNaming(sequence);
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    String quick = "poison_min_escalation_window_millis=10;max_frame_rejections=3;";
    try (ScriptServer server = new ScriptServer(self[0])) {
      Sender sender = builder(server, quick).build();
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
      Senders.publish(sender, "t", 1, 2);
      SfException e = assertThrows(SfException.class, () -> sender.awaitAcked(1));
      assertEquals(ErrorCode.POISON_FRAME, e.code());
      assertTrue(e.getMessage().contains("names no transaction"), e.getMessage());
      assertFalse(sender.counters().acksRejected() < 5, "rejected before it was poison");
      sender.close();
    }
  }

  /** The same where SQL knows the table: it is the one it was, so that the rows are in it. */
  @Test
  void aTableThatIsTheSameOnEveryConnectionIsBelieved() throws Exception {
    Looks gate = new Looks();
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              self[0].database.accept(message);
              if (n == 1) {
                session.okNaming(sequence);
              } else {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server, "").gate(gate).build()) {
      for (int n = 0; n < 3; n++) {
        sender.awaitAcked(Senders.publish(sender, "t", n, n + 1));
      }
      assertEquals(List.of("t", "t"), gate.unproven);
      assertEquals(2, sender.counters().acksRejected());
    }
  }
}
