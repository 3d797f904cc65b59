package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Sizes of frames and what servers take. */
@Timeout(30)
class CapsTest {
  private static final String BIG = "sf_max_segment_bytes=1m;frame_bytes=1m;sf_max_total_bytes=8m;";
  private static final String CAP = "X-QWP-Max-Batch-Size";

  private static Recorder capped(int cap) {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    self[0].upgrades = connection -> Upgrade.accept(CAP, Integer.toString(cap));
    return self[0];
  }

  private static TableBlock block(Sender sender, int rows, int textBytes) {
    TableBlock block = sender.newBlock("t");
    addRows(block, 0, rows, textBytes);
    return block;
  }

  private static void addRows(TableBlock block, int from, int to, int textBytes) {
    for (int n = from; n < to; n++) {
      block.column(Database.NUMBER, QwpType.LONG).putLong(n);
      block.column("text", QwpType.VARCHAR).putText("x".repeat(textBytes));
      block.endRow();
    }
  }

  /** Bytes of the messages that came; a server counts them as they are on the wire. */
  private static List<Integer> sizes(ScriptServer server) {
    return server.sizes;
  }

  @Test
  void framesAreSmallUntilACapIsKnown() throws Exception {
    Recorder script = capped(1 << 20);
    try (ScriptServer server = new ScriptServer(script)) {
      SenderBuilder late = Senders.builder(server.address(), BIG);
      boolean[] open = {false};
      late.gate(new Latch(open));
      try (Sender sender = late.build()) {
        // Published before any server was seen.
        Sender unconnected = Senders.builder("127.0.0.1:1", BIG).build();
        unconnected.publish(block(unconnected, 400, 1000));
        assertTrue(unconnected.publishedFsn() >= 3, "cut at 120 KiB");
        unconnected.discard();
        assertTrueEventually(() -> server.connections() > 0, "connected");
        open[0] = true;
        sender.awaitAcked(sender.publish(block(sender, 400, 1000)));
        script.database.assertComplete("t", 400);
        assertEquals(0, sender.publishedFsn(), "one frame of 400 KB");
      }
    }
  }

  /** Lets nothing through until it is opened. */
  private record Latch(boolean[] open) implements ConnectionGate {
    @Override
    public void admit(Endpoint endpoint) throws InterruptedException {
      while (!open[0]) {
        Thread.sleep(1);
      }
    }

    @Override
    public long version() {
      return 0;
    }
  }

  @Test
  void framesStayBelowNinetyPercentOfTheCap() throws Exception {
    Recorder script = capped(20_000);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, BIG + "initial_connect_retry=on;")) {
      sender.awaitAcked(sender.publish(block(sender, 500, 300)));
      script.database.assertComplete("t", 500);
      assertTrue(sizes(server).stream().allMatch(size -> size <= 18_000), sizes(server).toString());
      assertTrue(sizes(server).stream().anyMatch(size -> size > 15_000), sizes(server).toString());
    }
  }

  @Test
  void aBlockStopsAtARowThatFitsNoFrameAndKeepsIt() throws Exception {
    Recorder script = capped(20_000);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, BIG + "initial_connect_retry=on;")) {
      TableBlock block = block(sender, 3, 100);
      addRows(block, 999, 1000, 30_000);
      addRows(block, 3, 6, 100);
      SfException thrown = assertThrows(SfException.class, () -> sender.publish(block));
      assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
      assertTrue(thrown.getMessage().contains("row 3 "), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("column 'text' with 30"), thrown.getMessage());
      assertEquals(3, sender.counters().rowsWritten());
      sender.awaitAcked(sender.publishedFsn());
      script.database.assertComplete("t", 3);
      SfException again = assertThrows(SfException.class, () -> sender.publish(block));
      assertTrue(again.getMessage().contains("row 3 "), "nothing of it is gone");
      assertEquals(3, sender.counters().rowsWritten());
    }
  }

  @Test
  void aRowThatFitsNoFrameIsRefusedWhereItEndsAndTheOthersGo() throws Exception {
    Recorder script = capped(20_000);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, BIG)) {
      for (int n = 0; n < 1_000; n++) {
        if (n % 100 == 50) {
          // Known only when the server was seen: the first of them waits for that.
          Row large = sender.table("t").longColumn(Database.NUMBER, n);
          large.stringColumn("text", "x".repeat(n == 50 ? 200_000 : 18_500));
          SfException thrown =
              assertThrows(SfException.class, () -> large.at(1, ChronoUnit.MICROS));
          assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
          assertTrue(thrown.getMessage().contains("table 't'"), thrown.getMessage());
          assertTrue(thrown.getMessage().contains("column 'text'"), thrown.getMessage());
          sender.cancelRow();
        }
        sender.table("t").longColumn(Database.NUMBER, n).stringColumn("text", "x").atNow();
      }
      assertTrue(sender.drain(20_000));
      script.database.assertComplete("t", 1_000);
      assertEquals(1_000, sender.counters().rowsWritten());
    }
  }

  @Test
  void rowsThatServersHaveComeToRefuseAreKeptUntilTheyTakeThem() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    self[0].upgrades = c -> Upgrade.accept(CAP, c == 1 ? "20000" : "1000000");
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, BIG + "initial_connect_retry=on;auto_flush=off;")) {
      for (int n = 0; n < 3; n++) {
        String text = "x".repeat(n == 1 ? 50_000 : 10);
        sender.table("t").longColumn(Database.NUMBER, n).stringColumn("text", text).atNow();
      }
      server.run(() -> server.open.forEach(ScriptServer.Session::reset));
      assertTrueEventually(() -> server.connections() == 2, "the second connection");
      assertTrueEventually(() -> sender.frameBytes() == 18_000, "what it said");
      SfException thrown = assertThrows(SfException.class, sender::flush);
      assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
      assertEquals(0, sender.counters().rowsDropped());
      server.run(() -> server.open.forEach(ScriptServer.Session::reset));
      assertTrueEventually(() -> sender.frameBytes() > 100_000, "what the third said");
      assertTrue(sender.drain(20_000));
      self[0].database.assertComplete("t", 3);
    }
  }

  @Test
  void oneAnswerOfOneByteEndsNothing() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    self[0].upgrades = c -> Upgrade.accept(CAP, c == 0 ? "1" : "1000000");
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, BIG)) {
      sender.awaitAcked(sender.publish(block(sender, 400, 1000)));
      assertTrueEventually(() -> sender.frameBytes() == 900_000, "the size that holds now");
      self[0].database.assertComplete("t", 400);
    }
  }

  @Test
  void aLargeRowWaitsForTheFirstServerToSayWhatItTakes() throws Exception {
    Recorder script = capped(1 << 20);
    try (ScriptServer server = new ScriptServer(script)) {
      SenderBuilder builder = Senders.builder(server.address(), BIG);
      try (Sender sender = builder.build()) {
        sender.awaitAcked(sender.publish(block(sender, 1, 300_000)));
        script.database.assertComplete("t", 1);
      }
    }
  }

  /** Takes large frames on its first connection, without an answer, and ends it after a number. */
  private static Recorder endingAfter(long lastNumber, IntFunction<String> capOfConnection) {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() > 0) {
                self[0].accept(session, sequence, message);
              } else if (n == lastNumber) {
                session.reset();
              }
            });
    self[0].upgrades = connection -> Upgrade.accept(CAP, capOfConnection.apply(connection));
    return self[0];
  }

  @Test
  void aHostThatTakesLessIsSetAside() throws Exception {
    boolean[] away = {false};
    Recorder wide = endingAfter(0, connection -> "1000000");
    IntFunction<Upgrade> capped = wide.upgrades;
    wide.upgrades = c -> c > 0 && away[0] ? Upgrade.refuse(503) : capped.apply(c);
    Recorder narrow = capped(50_000);
    away[0] = true;
    try (ScriptServer first = new ScriptServer(wide);
        ScriptServer second = new ScriptServer(narrow);
        Sender sender =
            Senders.builder(
                    first.address() + "," + second.address(),
                    BIG
                        + "initial_connect_retry=on;"
                        + "catch_up_cap_gap_min_escalation_window_millis=200;")
                .build()) {
      // Larger than the second host takes; the first is away, which is no refusal.
      sender.publish(block(sender, 1, 200_000));
      assertTrueEventually(() -> second.connections() > 20, "asked again and again");
      long later = System.nanoTime() + 300_000_000L;
      assertTrueEventually(() -> System.nanoTime() > later, "the window");
      assertTrue(sender.terminalError().isEmpty(), "not all hosts have said so");
      assertTrue(narrow.all().isEmpty(), "nothing too large was sent");
      first.run(() -> away[0] = false);
      sender.awaitAcked(0);
    }
  }

  @Test
  void aFrameThatNoHostTakesEndsTheSenderAfterTheWindow() throws Exception {
    Recorder shrinking = endingAfter(0, c -> c == 0 ? "1000000" : "50000");
    try (ScriptServer server = new ScriptServer(shrinking)) {
      Sender sender =
          Senders.builder(
                  server.address(),
                  BIG
                      + "initial_connect_retry=on;"
                      + "catch_up_cap_gap_min_escalation_window_millis=200;")
              .errorHandler(error -> {})
              .build();
      long began = System.nanoTime();
      sender.publish(block(sender, 1, 200_000));
      SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(0));
      assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
      assertTrue(System.nanoTime() - began >= 200_000_000L, "not before the window");
      assertEquals(List.of(0L), shrinking.all(), "only where it was below the cap");
      sender.close();
    }
  }

  @Test
  void smallFramesBeforeALargeOneAreDeliveredFirst() throws Exception {
    Recorder script = endingAfter(2, c -> c == 0 || c > 4 ? "1000000" : "50000");
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, BIG + "initial_connect_retry=on;")) {
      TableBlock block = sender.newBlock("t");
      addRows(block, 0, 1, 10);
      sender.publish(block);
      addRows(block, 1, 2, 200_000);
      sender.publish(block);
      addRows(block, 2, 3, 10);
      sender.awaitAcked(sender.publish(block));
      script.database.assertComplete("t", 3);
      assertEquals(List.of(0L), script.connections.get(1), "the large one waits for another cap");
    }
  }

  @Test
  void anOkFromTheFutureDoesNotReachWhatWaitsForAnotherHost() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() == 0) {
                if (n == 2) {
                  session.reset();
                }
              } else {
                self[0].database.accept(message);
                session.ok(self[0].connection() == 1 ? sequence + 99 : sequence);
              }
            });
    self[0].upgrades = c -> Upgrade.accept(CAP, c == 0 || c > 4 ? "1000000" : "50000");
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, BIG + "initial_connect_retry=on;")) {
      TableBlock block = sender.newBlock("t");
      addRows(block, 0, 1, 10);
      sender.publish(block);
      addRows(block, 1, 2, 200_000);
      sender.publish(block);
      addRows(block, 2, 3, 10);
      sender.awaitAcked(sender.publish(block));
      self[0].database.assertComplete("t", 3);
    }
  }

  @Test
  void theDictionaryIsSentInPiecesThatFit() throws Exception {
    Recorder script = capped(2_000);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "initial_connect_retry=on;")) {
      TableBlock block = sender.newBlock("t");
      long n = 0;
      for (int frame = 0; frame < 30; frame++) {
        for (int row = 0; row < 10; row++) {
          block.column(Database.NUMBER, QwpType.LONG).putLong(n);
          block.column("s", QwpType.SYMBOL).putText("a long symbol with number " + n++);
          block.endRow();
        }
        sender.publish(block);
      }
      sender.awaitAcked(sender.publishedFsn());
      server.run(() -> server.open.forEach(ScriptServer.Session::reset));
      addRows(block, (int) n, (int) n + 1, 1);
      sender.awaitAcked(sender.publish(block));
      script.database.assertComplete("t", n + 1);
      long pieces = script.connections.get(1).stream().filter(m -> m < 0).count();
      assertTrue(pieces >= 4, "pieces: " + pieces);
      assertTrue(sizes(server).stream().allMatch(size -> size <= 2_000), sizes(server).toString());
    }
  }
}
