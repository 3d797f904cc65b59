package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.sender.ScriptServer.Session;

/** What the end of a connection leads to. */
@Timeout(30)
class ClosesTest {
  private static final String TOUCHY =
      "max_frame_rejections=1;poison_min_escalation_window_millis=0;";

  /** Ends the first connections some way, then accepts. */
  private static Recorder endingFirst(int connections, Consumer<Session> how) {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() < connections) {
                how.accept(session);
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    return self[0];
  }

  @Test
  void orderlyClosesAndCutsNeverStrike() throws Exception {
    List<Consumer<Session>> ways =
        List.of(
            s -> s.closeWith(1000, "done"),
            s -> s.closeWith(1001, "going away"),
            s -> s.closeWith(4001, "role change"),
            Session::reset,
            Session::finish);
    for (PolicyDefaults defaults : PolicyDefaults.values()) {
      for (Consumer<Session> way : ways) {
        Recorder script = endingFirst(6, way);
        try (ScriptServer server = new ScriptServer(script);
            Sender sender = Senders.builder(server.address(), TOUCHY).policies(defaults).build()) {
          Senders.publish(sender, "t", 0, 1);
          sender.awaitAcked(0);
          assertEquals(6, sender.counters().framesReplayed());
        }
      }
    }
  }

  /** A server that cannot read what it gets ends the connection without a word, each time. */
  @Test
  void endsWithoutAnAnswerAreToldAndDropNothing() throws Exception {
    for (PolicyDefaults defaults : PolicyDefaults.values()) {
      for (Consumer<Session> way : List.<Consumer<Session>>of(Session::reset, Session::finish)) {
        Recorder script = endingFirst(12, way);
        List<SenderError> told = new CopyOnWriteArrayList<>();
        List<SenderState> states = new CopyOnWriteArrayList<>();
        Sender[] self = new Sender[1];
        try (ScriptServer server = new ScriptServer(script);
            Sender sender =
                Senders.builder(server.address(), TOUCHY)
                    .policies(defaults)
                    .errorHandler(told::add)
                    .build()) {
          self[0] = sender;
          script.upgrades =
              connection -> {
                states.add(self[0].state());
                return ScriptServer.Upgrade.accept();
              };
          Senders.publish(sender, "t", 0, 3);
          sender.awaitAcked(0);
          Database.assertTrueEventually(() -> told.size() == 2, "told at 5 and 10");
          SenderError error = told.get(0);
          assertEquals(Policy.RETRY, error.policy());
          assertEquals("t", error.table());
          assertEquals(3, error.rows());
          assertEquals(0, error.fromFsn());
          assertTrue(error.message().startsWith("5 connections in a row"), error.message());
          assertTrue(told.get(1).message().startsWith("10 connections"), told.get(1).message());
          SenderState last = states.get(states.size() - 1);
          assertEquals(SenderState.Kind.REJECTING, last.kind());
          assertTrue(last.cause().contains("12 connections in a row"), last.cause());
          assertEquals(SenderState.Kind.OK, sender.state().kind());
          script.database.assertComplete("t", 3);
          assertEquals(0, sender.counters().framesDropped());
        }
      }
    }
  }

  @Test
  void sixCodesEndThePlainSender() throws Exception {
    for (int code : new int[] {1002, 1003, 1007, 1008, 1009, 1010}) {
      Recorder script = endingFirst(99, s -> s.closeWith(code, "bad"));
      try (ScriptServer server = new ScriptServer(script)) {
        Sender sender = Senders.open(server, "");
        Senders.publish(sender, "t", 0, 2);
        SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(0));
        assertEquals(ErrorCode.PROTOCOL_VIOLATION, thrown.code());
        SenderError error = sender.terminalError().orElseThrow();
        assertEquals("ws-close[" + code + "]: bad", error.message());
        assertEquals(-1, error.status());
        assertEquals(-1, error.messageSequence());
        assertEquals(0, error.fromFsn());
        assertEquals(0, error.toFsn());
        assertEquals(1, script.connections.size());
        sender.close();
      }
    }
  }

  @Test
  void theSameCodesOnlyStrikeForTheSink() throws Exception {
    Recorder script = endingFirst(5, s -> s.closeWith(1002, "bad"));
    List<SenderError> errors = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            Senders.builder(server.address(), TOUCHY)
                .policies(PolicyDefaults.SINK)
                .errorHandler(errors::add)
                .build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      Database.assertTrueEventually(() -> errors.size() == 5, "a strike each");
    }
  }

  @Test
  void otherCodesStrikeThePlainSender() throws Exception {
    Recorder script = endingFirst(99, s -> s.closeWith(1011, "oops"));
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender =
          Senders.open(server, "max_frame_rejections=3;poison_min_escalation_window_millis=0;");
      Senders.publish(sender, "t", 0, 1);
      assertEquals(
          ErrorCode.POISON_FRAME,
          assertThrows(SfException.class, () -> sender.awaitAcked(0)).code());
      assertEquals(3, script.connections.size());
      sender.close();
    }
  }

  @Test
  void aCloseBeforeAnythingWasSentStrikesNobody() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder((session, sequence, n, message) -> self[0].accept(session, sequence, message));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, TOUCHY)) {
      for (int i = 1; i <= 4; i++) {
        awaitConnection(server, i);
        server.run(() -> server.open.get(0).closeWith(1011, "idle"));
      }
      // Sent on the fourth, the frame would have met its close on the way: that is a strike.
      awaitConnection(server, 5);
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
    }
  }

  private static void awaitConnection(ScriptServer server, int number) throws Exception {
    Database.assertTrueEventually(
        () -> server.open.size() == 1 && server.connections() == number, "connected");
  }

  @Test
  void acknowledgementsBeforeTheCloseCount() throws Exception {
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 9) {
                session.ok(sequence);
                session.closeWith(1000, "role change");
              }
            });
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "close_flush_timeout_millis=0;")) {
      for (int n = 0; n < 10; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(9);
      assertEquals(0, sender.counters().framesReplayed());
    }
  }

  @Test
  void acknowledgementsAfterOurCloseCount() throws Exception {
    Database database = new Database();
    ScriptServer.Script script =
        new ScriptServer.Script() {
          @Override
          public void message(Session s, long sequence, QwpMessage m) {
            database.accept(m);
          }

          @Override
          public void closing(Session session) {
            session.ok(session.received() - 1);
          }
        };
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = Senders.open(server, "close_flush_timeout_millis=0;");
      Senders.publish(sender, "t", 0, 1);
      Database.assertTrueEventually(() -> !database.all("t").isEmpty(), "received");
      sender.close();
      assertEquals(1, sender.counters().framesAcked());
    }
  }

  @Test
  void rubbishFromTheServerIsALostConnection() throws Exception {
    byte[][] rubbish = {
      {},
      {0},
      {0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0},
      {3, 0},
      {2, 1, 0, 0, 0},
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}
    };
    for (byte[] bytes : rubbish) {
      Recorder script = endingFirst(2, s -> s.raw(bytes));
      try (ScriptServer server = new ScriptServer(script);
          Sender sender = Senders.open(server, TOUCHY)) {
        Senders.publish(sender, "t", 0, 1);
        sender.awaitAcked(0);
        assertEquals(3, script.connections.size());
      }
    }
  }

  /** Nor anything sent: what such an OK says of other messages is worth nothing either. */
  @Test
  void anOkFromTheFutureAcknowledgesNothing() throws Exception {
    Recorder script = endingFirst(2, session -> session.ok(99));
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "")) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      assertEquals(3, script.connections.size());
      assertEquals(List.of(0L, 0L, 0L), script.all());
    }
  }
}
