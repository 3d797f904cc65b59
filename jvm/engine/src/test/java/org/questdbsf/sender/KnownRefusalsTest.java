package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.TableTxn;

/** What senders do about refusals whose meaning is known. */
@Timeout(30)
class KnownRefusalsTest {
  private static final String NO_TABLE = "failed to create table update details for: t";
  private static final String FULL = "No space left [size=131072, fd=843961074051]";
  private static final String RENAMED =
      "commit error: cached query plan cannot be used because table schema has changed [table=t]";
  private static final String QUICK_POISON =
      "max_frame_rejections=2;poison_min_escalation_window_millis=0;";

  private final List<SenderError> errors = new CopyOnWriteArrayList<>();

  private SenderBuilder builder(ScriptServer server, String keys, PolicyDefaults defaults) {
    return Senders.builder(server.address(), keys).policies(defaults).errorHandler(errors::add);
  }

  /** Refuses so many times, then takes all. */
  private static Recorder refusing(int times, int status, String text) {
    AtomicInteger left = new AtomicInteger(times);
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (left.getAndDecrement() > 0) {
                session.nack(status, sequence, text);
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    return self[0];
  }

  private static SfException thrown(Sender sender) {
    return assertThrows(SfException.class, () -> sender.awaitAcked(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          6 | failed to create table update details for: t | Either it is a view
          3 | cannot insert into non-WAL table: t          | SET TYPE WAL
          3 | new columns not allowed [table=t, column=w]  | line.auto.create.new.columns
          3 | invalid column name [table=t, column=a.b]    | Rename the column
          8 | replica access is read-only                  | name another in addr
          9 | designated timestamp column cannot be NULL   | cannot be NULL
          """)
  void whatCannotPassEndsTheQueryAtOnce(int status, String text, String advice) throws Exception {
    Recorder script = refusing(Integer.MAX_VALUE, status, text);
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = builder(server, "", PolicyDefaults.SINK).build();
      Senders.publish(sender, "t", 0, 1);
      SfException end = thrown(sender);
      assertEquals(ErrorCode.SERVER_REJECTED, end.code());
      for (String part : List.of("table 't'", "frame 0", text, advice)) {
        assertTrue(end.getMessage().contains(part), end.getMessage());
      }
      assertEquals(1, script.connections.size());
      assertEquals(-1, sender.ackedFsn(), "the frame stays");
      sender.close();
    }
  }

  /** Asked to retry it, a sender does so for as long as a poison frame, and no longer. */
  @ParameterizedTest
  @CsvSource({"ENGINE,retry", "SINK,retry", "ENGINE,retriable_other", "SINK,retriable_other"})
  void whatCannotPassIsNotRetriedForEver(PolicyDefaults defaults, String policy) throws Exception {
    Recorder script = refusing(Integer.MAX_VALUE, 6, NO_TABLE);
    try (ScriptServer server = new ScriptServer(script)) {
      String keys = "on_internal_error=" + policy + ";max_frame_rejections=3;";
      Sender sender =
          builder(server, keys + "poison_min_escalation_window_millis=0;", defaults).build();
      Senders.publish(sender, "t", 0, 1);
      SfException end = thrown(sender);
      assertEquals(ErrorCode.POISON_FRAME, end.code());
      assertTrue(end.getMessage().contains("Either it is a view"), end.getMessage());
      assertEquals(3, script.connections.size());
      sender.close();
    }
  }

  @ParameterizedTest
  @EnumSource(PolicyDefaults.class)
  void aStaleConnectionIsReplacedWhateverThePolicy(PolicyDefaults defaults) throws Exception {
    for (String policy : List.of("halt", "drop", "retry", "auto")) {
      Recorder script = refusing(1, 6, RENAMED);
      try (ScriptServer server = new ScriptServer(script);
          Sender sender = builder(server, "on_internal_error=" + policy + ";", defaults).build()) {
        Senders.publish(sender, "t", 0, 1);
        sender.awaitAcked(0);
        assertEquals(List.of(0L), script.database.all("t"));
        assertEquals(2, script.connections.size());
        assertEquals(0, sender.counters().framesDropped());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(PolicyDefaults.class)
  void aFullDiskIsWaitedFor(PolicyDefaults defaults) throws Exception {
    Recorder script = refusing(20, 6, FULL);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server, QUICK_POISON, defaults).build()) {
      Senders.publish(sender, "t", 0, 1);
      Senders.publish(sender, "t", 1, 2);
      assertTrueEventually(() -> sender.state().kind() == SenderState.Kind.REJECTING, "rejecting");
      assertTrue(sender.state().cause().contains(FULL), sender.state().cause());
      sender.awaitAcked(1);
      script.database.assertComplete("t", 2);
      assertEquals(0, sender.counters().framesDropped());
    }
  }

  /** Other frames of the table go through meanwhile: the disk is full now and then. */
  @Test
  void aFullDiskMakesNoFramePoison() throws Exception {
    AtomicInteger refusals = new AtomicInteger();
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 1000 && refusals.incrementAndGet() <= 20) {
                session.nack(6, sequence, FULL);
              } else {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(script);
        Sender stuck = builder(server, QUICK_POISON, PolicyDefaults.SINK).build();
        Sender other = builder(server, "", PolicyDefaults.SINK).build()) {
      Senders.publish(stuck, "t", 1000, 1001);
      assertTrueEventually(() -> refusals.get() > 1, "refused");
      other.awaitAcked(Senders.publish(other, "t", 0, 1));
      stuck.awaitAcked(0);
    }
  }

  @ParameterizedTest
  @CsvSource({"6,''", "9,on_write_error=retriable_other;", "12,''"})
  void nothingIsWaitedForLongerThanAnOutage(int status, String keys) throws Exception {
    Recorder script = refusing(Integer.MAX_VALUE, status, FULL);
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender =
          builder(server, keys + "reconnect_max_duration_millis=200;", PolicyDefaults.ENGINE)
              .build();
      Senders.publish(sender, "t", 0, 1);
      SfException end = thrown(sender);
      assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, end.code());
      assertTrue(end.getMessage().contains("reconnect_max_duration_millis"), end.getMessage());
      assertTrue(end.getMessage().contains(FULL), end.getMessage());
      assertEquals(-1, sender.ackedFsn());
      sender.close();
    }
  }

  /** Nobody asked for dropping, and there is no place for what would be dropped. */
  @ParameterizedTest
  @CsvSource({"3,no such column", "9,designated timestamp column cannot be NULL"})
  void withoutAPlaceToKeepThemRowsAreNotDropped(int status, String text) throws Exception {
    Recorder script = refusing(Integer.MAX_VALUE, status, text);
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = builder(server, "", PolicyDefaults.ENGINE).build();
      Senders.publish(sender, "t", 0, 3);
      assertEquals(ErrorCode.SERVER_REJECTED, thrown(sender).code());
      assertEquals(0, sender.counters().rowsDropped());
      sender.close();
    }
  }

  @Test
  void withAPlaceTheyAreSetAside() throws Exception {
    Recorder script = refusing(1, 9, "designated timestamp column cannot be NULL");
    List<Long> kept = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            builder(server, "", PolicyDefaults.ENGINE)
                .deadLetters(
                    (slot, fsn, frame, error) -> {
                      kept.add(fsn);
                      return "there";
                    })
                .build()) {
      Senders.publish(sender, "t", 0, 3);
      sender.awaitAcked(Senders.publish(sender, "t", 3, 4));
      assertEquals(List.of(0L), kept);
      assertEquals(3, sender.counters().rowsDropped());
      assertEquals(List.of(3L), script.database.all("t"));
    }
  }

  /** A frame may spell the table as it likes; the server answers with the table's own spelling. */
  @Test
  void rowsOfATableAreThoseOfItsNameInAnyCase() throws Exception {
    Recorder script =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 1000) {
                session.nack(9, sequence, "not this one");
              } else {
                session.okNaming(sequence, new TableTxn("Trades", n + 1));
              }
            });
    try (ScriptServer server = new ScriptServer(script)) {
      Sender stuck = builder(server, QUICK_POISON, PolicyDefaults.SINK).build();
      Senders.publish(stuck, "TRADES", 1000, 1001);
      assertTrueEventually(() -> stuck.counters().serverErrors() > 2, "refused");
      try (Sender other = builder(server, "", PolicyDefaults.SINK).build()) {
        other.awaitAcked(Senders.publish(other, "trades", 0, 1));
      }
      assertEquals(ErrorCode.POISON_FRAME, thrown(stuck).code());
      stuck.close();
    }
  }
}
