package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What error frames lead to. One row a frame, so that numbers are FSNs. */
@Timeout(30)
class RejectionsTest {
  private final List<SenderError> errors = new CopyOnWriteArrayList<>();

  private SenderBuilder builder(ScriptServer server, String keys) {
    return Senders.builder(server.address(), keys).errorHandler(errors::add);
  }

  private static void publish(Sender sender, int frames) throws InterruptedException {
    for (int n = 0; n < frames; n++) {
      Senders.publish(sender, "t", n, n + 1);
    }
  }

  @Test
  void aDropKeepsTheFrameFirstAndGoesOn() throws Exception {
    Recorder[] self = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 2) {
                session.nack(0x03, sequence, "column n is no LONG");
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    self[0] = script;
    List<Long> buried = new CopyOnWriteArrayList<>();
    List<Long> ackedWhenBuried = new CopyOnWriteArrayList<>();
    Sender[] holder = new Sender[1];
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            builder(server, "")
                .deadLetters(
                    (slot, fsn, frame, error) -> {
                      buried.add(fsn);
                      ackedWhenBuried.add(holder[0].ackedFsn());
                      return "/graves/" + fsn;
                    })
                .build()) {
      holder[0] = sender;
      publish(sender, 5);
      sender.awaitAcked(4);
      assertEquals(List.of(2L), buried);
      assertEquals(List.of(1L), ackedWhenBuried, "the watermark waits for the dead letter");
      assertTrueEventually(() -> errors.size() == 1, "the handler is told once");
      SenderError error = errors.get(0);
      assertEquals(Category.SCHEMA_MISMATCH, error.category());
      assertEquals(Policy.DROP, error.policy());
      assertEquals(3, error.status());
      assertEquals(2, error.fromFsn());
      assertEquals(2, error.toFsn());
      assertEquals("t", error.table());
      assertEquals(1, error.rows());
      assertEquals("column n is no LONG", error.message());
      assertEquals("/graves/2", error.deadLetter());
      assertEquals(1, sender.counters().framesDropped());
      assertEquals(1, sender.counters().rowsDropped());
      assertEquals(0, sender.counters().unackedBytes());
      assertEquals(List.of(0L, 1L, 3L, 4L), script.database.all("t").stream().distinct().toList());
    }
  }

  @Test
  void aRefusalAboveTheHeadDropsNothingBelow() throws Exception {
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 2) {
                session.nack(0x03, sequence, "no");
              } else if (holder[0].connection() > 0) {
                // Not on the first connection: there 0 and 1 may or may not be in.
                holder[0].accept(session, sequence, message);
              }
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, "on_schema_error=drop;").build()) {
      publish(sender, 5);
      sender.awaitAcked(4);
      assertEquals(List.of(0L, 1L, 3L, 4L), script.database.all("t"));
      // Second connection: one at a time up to the suspect, which is refused again, now as head.
      assertEquals(List.of(0L, 1L, 2L), script.connections.get(1));
      assertEquals(List.of(Recorder.DICTIONARY, 3L, 4L), script.connections.get(2));
    }
  }

  @Test
  void oneAtATimeUpToTheSuspect() throws Exception {
    AtomicInteger unanswered = new AtomicInteger();
    AtomicInteger worst = new AtomicInteger();
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              Recorder self = holder[0];
              if (self.connection() == 0) {
                if (n == 9) {
                  session.nack(0x06, sequence, "only now");
                }
                return;
              }
              worst.accumulateAndGet(unanswered.incrementAndGet(), Math::max);
              // Answers late, so that a sender that does not wait would be seen.
              session.later(
                  5,
                  () -> {
                    unanswered.decrementAndGet();
                    self.accept(session, sequence, message);
                  });
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, "on_internal_error=retry;").build()) {
      publish(sender, 10);
      sender.awaitAcked(9);
      assertEquals(1, worst.get(), "frames on their way");
      script.database.assertComplete("t", 10);
      assertEquals(10, script.database.all("t").size());
      assertEquals(0, errors.size(), "it was never refused as head of the line");
    }
  }

  @Test
  void nothingIsDroppedThatCannotBeKept() throws Exception {
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 0) {
                session.nack(0x09, sequence, "no");
              } else {
                holder[0].accept(session, sequence, message);
              }
            });
    holder[0] = script;
    AtomicInteger tries = new AtomicInteger();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            builder(server, "on_write_error=drop;poison_min_escalation_window_millis=0;")
                .deadLetters(
                    (slot, fsn, frame, error) -> {
                      if (tries.incrementAndGet() < 5) {
                        if (tries.get() % 2 == 0) {
                          throw new IllegalStateException("file system closed");
                        }
                        throw new IOException("disk full");
                      }
                      return "there";
                    })
                .build()) {
      publish(sender, 2);
      sender.awaitAcked(1);
      assertEquals(5, tries.get());
      assertEquals(1, sender.counters().framesDropped());
      assertTrueEventually(() -> errors.size() == 5, "told each time");
      assertTrue(errors.get(0).message().contains("disk full"), errors.get(0).message());
      assertNull(errors.get(0).deadLetter());
    }
  }

  @Test
  void haltEndsTheSenderAndIsThrownOnce() throws Exception {
    Recorder script =
        new Recorder((session, sequence, n, message) -> session.nack(0x05, sequence, "what?"));
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = Senders.open(server, "");
      Senders.publish(sender, "t", 0, 1);
      SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(0));
      assertEquals(ErrorCode.SERVER_REJECTED, thrown.code());
      assertTrue(thrown.getMessage().contains("what?"), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("'t'"), thrown.getMessage());
      assertEquals(SenderState.Kind.FAILED, sender.state().kind());
      assertEquals(Category.PARSE_ERROR, sender.terminalError().orElseThrow().category());
      assertEquals(
          ErrorCode.SERVER_REJECTED,
          assertThrows(SfException.class, () -> Senders.publish(sender, "t", 1, 2)).code());
      assertEquals(-1, sender.ackedFsn());
      sender.close();
    }
  }

  @Test
  void closeThrowsWhatNobodyHeardOf() throws Exception {
    Recorder script =
        new Recorder((session, sequence, n, message) -> session.nack(0x08, sequence, "forbidden"));
    try (ScriptServer server = new ScriptServer(script)) {
      Sender silent = Senders.open(server, "");
      Senders.publish(silent, "t", 0, 1);
      assertTrueEventually(() -> silent.terminalError().isPresent(), "terminal");
      assertEquals(
          ErrorCode.SERVER_REJECTED, assertThrows(SfException.class, silent::close).code());
      silent.close();

      Sender told = builder(server, "").build();
      Senders.publish(told, "t", 0, 1);
      assertTrueEventually(() -> !errors.isEmpty(), "told");
      told.close();
    }
  }

  @Test
  void whatNobodyKnowsHaltsThePlainSender() throws Exception {
    for (int status : new int[] {0x04, 0x07, 0xFF}) {
      Recorder script =
          new Recorder((session, sequence, n, message) -> session.nack(status, sequence, "?"));
      try (ScriptServer server = new ScriptServer(script)) {
        Sender sender = builder(server, "").build();
        Senders.publish(sender, "t", 0, 1);
        assertThrows(SfException.class, () -> sender.awaitAcked(0), "status " + status);
        sender.close();
      }
    }
  }

  @Test
  void afterARefusalNothingMoreIsRead() throws Exception {
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (holder[0].connection() == 0) {
                session.nack(0x06, sequence, "no");
                session.ok(sequence);
              } else {
                holder[0].accept(session, sequence, message);
              }
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, "on_internal_error=retry;").build()) {
      publish(sender, 1);
      sender.awaitAcked(0);
      assertEquals(1, script.database.all("t").size(), "the OK behind the NACK says nothing");
      assertEquals(1, sender.counters().framesReplayed());
    }
  }

  @Test
  void poisonNeedsStrikesAndTime() throws Exception {
    Recorder script =
        new Recorder((session, sequence, n, message) -> session.nack(0x09, sequence, "never"));
    try (ScriptServer server = new ScriptServer(script)) {
      long began = System.nanoTime();
      Sender sender =
          builder(server, "on_write_error=retry;poison_min_escalation_window_millis=300;").build();
      Senders.publish(sender, "t", 0, 1);
      SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(0));
      assertEquals(ErrorCode.POISON_FRAME, thrown.code());
      assertTrue(System.nanoTime() - began >= 300_000_000L, "not before the window");
      assertTrue(script.connections.size() >= 4, "strikes " + script.connections.size());
      SenderError last = sender.terminalError().orElseThrow();
      assertEquals(Category.PROTOCOL_VIOLATION, last.category());
      assertTrue(last.message().contains("WRITE_ERROR"), last.message());
      sender.close();
    }
  }

  @Test
  void theSinkWaitsForATableThatTakesNothing() throws Exception {
    Recorder[] holder = new Recorder[1];
    AtomicInteger refusals = new AtomicInteger(40);
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (refusals.getAndDecrement() > 0) {
                session.nack(0x09, sequence, "table is busy");
              } else {
                holder[0].accept(session, sequence, message);
              }
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            builder(server, "poison_min_escalation_window_millis=0;max_frame_rejections=1;")
                .policies(PolicyDefaults.SINK)
                .build()) {
      publish(sender, 3);
      assertTrueEventually(() -> sender.state().kind() == SenderState.Kind.REJECTING, "rejecting");
      assertTrue(sender.state().cause().contains("table is busy"));
      sender.awaitAcked(2);
      script.database.assertComplete("t", 3);
      assertEquals(SenderState.Kind.OK, sender.state().kind());
      assertTrue(sender.counters().serverErrors() >= 40);
    }
  }

  @Test
  void theSinkGivesUpAFrameWhenOthersOfItsTableGoThrough() throws Exception {
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 1000) {
                session.nack(0x09, sequence, "not this one");
              } else {
                session.ok(sequence);
              }
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script)) {
      Sender stuck =
          builder(server, "poison_min_escalation_window_millis=100;")
              .policies(PolicyDefaults.SINK)
              .build();
      Senders.publish(stuck, "t", 1000, 1001);
      assertTrueEventually(() -> stuck.counters().serverErrors() >= 10, "refused often");
      assertFalse(stuck.terminalError().isPresent(), "nobody else's rows went through yet");
      try (Sender other = builder(server, "").policies(PolicyDefaults.SINK).build()) {
        Senders.publish(other, "t", 0, 1);
        other.awaitAcked(0);
      }
      assertEquals(
          ErrorCode.POISON_FRAME,
          assertThrows(SfException.class, () -> stuck.awaitAcked(0)).code());
      stuck.close();
    }
  }

  @Test
  void notWritableGoesToAnotherHost() throws Exception {
    Recorder readOnly =
        new Recorder((session, sequence, n, message) -> session.nack(0x0C, sequence, "replica"));
    Database database = new Database();
    try (ScriptServer first = new ScriptServer(readOnly);
        ScriptServer second = new ScriptServer(database.acceptAll());
        Sender sender =
            Senders.builder(first.address() + "," + second.address(), "max_frame_rejections=1;")
                .policies(PolicyDefaults.SINK)
                .errorHandler(errors::add)
                .build()) {
      publish(sender, 3);
      sender.awaitAcked(2);
      database.assertComplete("t", 3);
      assertEquals(1, readOnly.connections.size());
    }
  }

  @Test
  void aRefusalOfWhatWasNeverSentHarmsNoFrame() throws Exception {
    Recorder[] holder = new Recorder[1];
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (holder[0].connection() == 0) {
                session.nack(0x03, sequence + 7, "who?");
              } else {
                holder[0].accept(session, sequence, message);
              }
            });
    holder[0] = script;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, "").build()) {
      publish(sender, 1);
      sender.awaitAcked(0);
      script.database.assertComplete("t", 1);
      assertEquals(0, sender.counters().framesDropped());
    }
  }
}
