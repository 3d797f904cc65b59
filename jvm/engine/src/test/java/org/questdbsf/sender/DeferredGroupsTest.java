package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.MessageHeader;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.slot.Durability;
import org.questdbsf.slot.RingSettings;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.SegmentRing;

/** Groups of frames as other clients leave them in slots; the ring here is one in memory. */
@Timeout(30)
class DeferredGroupsTest {
  private final SegmentRing ring =
      SegmentRing.memory(
          new RingSettings(1 << 16, Durability.MEMORY, 5000, 0),
          new SegmentBudget(1 << 20).open(1 << 16),
          SegmentKeeper.shared());
  private final SymbolDictionary dictionary = new SymbolDictionary();
  private final List<Long> buried = new CopyOnWriteArrayList<>();
  private SendLoop loop;
  private LoopSetup setup;

  @AfterEach
  void close() {
    if (loop != null) {
      loop.stop(LoopControl.Stop.DISCARD);
      assertTrue(loop.join());
    }
    ring.close();
  }

  /** Appends a self-sufficient frame with one row. */
  private void append(long number, boolean deferred) throws InterruptedException {
    TableBlock block = new TableBlock("t", dictionary, 127);
    Senders.addRow(block, number);
    block.column("other", QwpType.LONG).putLong(1);
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, 0, 1, dictionary, 0, dictionary.size());
    if (deferred) {
      encoder.array()[5] |= MessageHeader.FLAG_DEFER_COMMIT;
    }
    ring.append(encoder.array(), 0, encoder.length(), 1000, () -> "");
  }

  private void start(ScriptServer server, String keys) throws InterruptedException {
    SenderCounters counters = new SenderCounters();
    SenderBuilder builder = Senders.builder(server.address(), keys);
    setup =
        new LoopSetup(
            "foreign",
            ring,
            new SymbolEpochs(true, new SymbolDictionary(), List.of()),
            ReplayPlan.read(ring, "foreign", null),
            builder.config,
            PolicyDefaults.ENGINE,
            ConnectionGate.OPEN,
            (slot, fsn, frame, error) -> {
              buried.add(fsn);
              return "there";
            },
            counters,
            new SenderStatus("foreign"),
            new PublishTimes(),
            new FrameCap(ring.maxFrameBytes(), 1, 0, cap -> {}),
            new ErrorInbox("foreign", 16, error -> {}, error -> {}, counters));
    loop = new SendLoop(setup, builder.pacer, builder.outages);
    loop.start();
  }

  private void awaitAcked(long fsn) throws InterruptedException {
    setup.status().await(() -> ring.ackedFsn() >= fsn, -1);
  }

  @Test
  void anOkInsideAGroupReachesOnlyToTheFrameBeforeIt() throws Exception {
    append(0, false);
    append(1, true);
    append(2, true);
    append(3, false);
    List<Long> acked = new CopyOnWriteArrayList<>();
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              acked.add(ring.ackedFsn());
              if (self[0].connection() == 0 && n == 2) {
                session.ok(sequence); // as servers before 10.0.0 did
                session.closeWith(1000, "before the commit");
              } else if (self[0].connection() > 0) {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0])) {
      start(server, "");
      awaitAcked(3);
      // Only frame 0 was settled: the whole group is sent again.
      assertEquals(List.of(1L, 2L, 3L), self[0].connections.get(1));
    }
  }

  @Test
  void anUncommittedTailIsRetiredAndNeverSent() throws Exception {
    append(0, false);
    append(1, true);
    append(2, true);
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    try (ScriptServer server = new ScriptServer(self[0])) {
      start(server, "");
      assertEquals(2, setup.plan().appendAfter());
      awaitAcked(2);
      append(3, false);
      awaitAcked(3);
      assertEquals(List.of(0L, 3L), self[0].all());
      assertEquals(2, setup.counters().framesDropped());
    }
  }

  @Test
  void theTailWaitsForWhatIsBeforeIt() throws Exception {
    append(0, false);
    append(1, true);
    Recorder silent = new Recorder((session, sequence, n, m) -> {});
    try (ScriptServer server = new ScriptServer(silent)) {
      start(server, "");
      assertTrueEventually(() -> silent.all().size() == 1, "the first frame is sent");
      assertEquals(-1, ring.ackedFsn());
      server.run(() -> server.open.get(0).ok(0));
      awaitAcked(1);
    }
  }

  @Test
  void aGroupIsDroppedAsAWhole() throws Exception {
    append(0, false);
    append(1, true);
    append(2, true);
    append(3, false);
    append(4, false);
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 2) {
                session.nack(0x03, sequence, "no");
              } else if (!message.deferred()) {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0])) {
      start(server, "");
      awaitAcked(4);
      assertEquals(List.of(1L, 2L, 3L), buried);
      assertEquals(3, setup.counters().rowsDropped());
      assertTrue(self[0].all().contains(4L));
    }
  }

  @Test
  void carefulSendingLetsAGroupThroughWhole() throws Exception {
    append(0, false);
    append(1, true);
    append(2, false);
    append(3, false);
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() == 0 && n == 3) {
                session.nack(0x06, sequence, "later");
              } else if (self[0].connection() > 0 && !message.deferred()) {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0])) {
      start(server, "on_internal_error=retry;");
      awaitAcked(3);
      assertEquals(List.of(0L, 1L, 2L, 3L), self[0].connections.get(1));
    }
  }

  @Test
  void planOfARingWithoutGroups() throws Exception {
    append(0, false);
    append(1, false);
    SymbolDictionary read = new SymbolDictionary();
    ReplayPlan plan = ReplayPlan.read(ring, "s", read);
    assertEquals(-1, plan.appendAfter());
    assertEquals(2, read.size());
    assertEquals(1, plan.boundary(1));
    assertFalse(plan.isRetired(1));
  }

  @Test
  void aFrameThatGivesAnIdAnotherMeaningBeginsADictionary() throws Exception {
    append(0, false);
    SymbolDictionary other = new SymbolDictionary();
    TableBlock block = new TableBlock("t", other, 127);
    Senders.addRow(block, 7);
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, 0, 1, other, 0, 1);
    ring.append(encoder.array(), 0, encoder.length(), 1000, () -> "");
    SymbolDictionary read = new SymbolDictionary();
    ReplayPlan plan = ReplayPlan.read(ring, "s", read);
    assertEquals(List.of(1L), plan.dictionaryStarts());
    assertEquals(-1, plan.appendAfter(), "new frames need not wait");
    assertEquals("s7", new String(read.utf8(0), StandardCharsets.UTF_8));
  }
}
