package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.TableTxn;
import org.questdbsf.sender.ScriptServer.Session;

/** Servers that take frames, say one thing or another, and acknowledge nothing. */
@Timeout(30)
class UnacknowledgedTest {
  /** PONGs, PINGs and repeated OKs are no progress. */
  @Test
  void aServerThatTalksAndNeverAcknowledgesIsLeft() throws Exception {
    byte[] unknown = {2, 0, 0};
    for (Consumer<Session> talk :
        List.<Consumer<Session>>of(
            session -> {}, session -> session.raw(unknown), session -> session.okNaming(0))) {
      Recorder talker =
          new Recorder(
              (session, sequence, n, message) -> {
                if (n == 0) {
                  session.ok(sequence);
                } else {
                  talkOn(session, talk);
                }
              });
      Recorder alive = Recorder.accepting();
      try (ScriptServer first = new ScriptServer(talker);
          ScriptServer second = new ScriptServer(alive);
          Sender sender =
              Senders.builder(first.address() + "," + second.address(), "ack_timeout_millis=700;")
                  .build()) {
        Senders.publish(sender, "t", 0, 1);
        sender.awaitAcked(0);
        Senders.publish(sender, "t", 1, 2);
        sender.awaitAcked(1);
        assertEquals(List.of(1L), alive.database.all("t").stream().distinct().toList());
      }
    }
  }

  /** It has acknowledged; making rows durable may take longer than an acknowledgement. */
  @Test
  void aServerThatIsSlowToMakeRowsDurableIsNotLeft() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              session.ok(sequence);
              session.later(2000, () -> session.durable(new TableTxn("t", 1)));
            });
    self[0].upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Durable-Ack", "enabled");
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender =
            Senders.builder(server.address(), "ack_timeout_millis=1000;request_durable_ack=on;")
                .build()) {
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
      assertEquals(1, self[0].connections.size());
      assertEquals(0, sender.counters().framesReplayed());
    }
  }

  /** Nor does a sender wait for ever for a server that makes nothing durable. */
  @Test
  void aServerThatMakesNothingDurableIsLeftInTheEnd() throws Exception {
    Recorder recorder = new Recorder((session, sequence, n, message) -> session.ok(sequence));
    recorder.upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Durable-Ack", "enabled");
    try (ScriptServer server = new ScriptServer(recorder);
        Sender sender =
            Senders.builder(server.address(), "ack_timeout_millis=100;request_durable_ack=on;")
                .build()) {
      Senders.publish(sender, "t", 0, 1);
      Database.assertTrueEventually(() -> recorder.connections.size() > 1, "another connection");
      assertEquals(-1, sender.ackedFsn());
    }
  }

  private static void talkOn(Session session, Consumer<Session> talk) {
    talk.accept(session);
    session.later(
        20,
        () -> {
          if (session.isOpen()) {
            talkOn(session, talk);
          }
        });
  }

  @Test
  void aServerThatNeverAcknowledgesIsToldAndEndsTheBudget() throws Exception {
    Recorder silent = new Recorder((session, sequence, n, message) -> {});
    List<SenderError> told = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(silent)) {
      Sender sender =
          Senders.builder(
                  server.address(), "ack_timeout_millis=50;reconnect_max_duration_millis=1000;")
              .errorHandler(told::add)
              .build();
      Senders.publish(sender, "t", 0, 1);
      assertTrueEventually(
          () -> sender.state().kind() == SenderState.Kind.REJECTING, "told as a state");
      SfException end = assertThrows(SfException.class, () -> sender.awaitAcked(0));
      assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, end.code());
      assertTrue(end.getMessage().contains("no acknowledgement for 50 ms"), end.getMessage());
      assertTrue(silent.all().size() >= UnansweredEnds.FIRST_TOLD, silent.all().toString());
      assertEquals(Category.OUTAGE, sender.terminalError().orElseThrow().category());
      sender.close();
    }
  }
}
