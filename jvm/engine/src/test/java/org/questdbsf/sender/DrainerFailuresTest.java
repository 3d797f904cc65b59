package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.slot.Slot;
import org.questdbsf.testserver.NackRule;

/** What becomes of a slot that cannot be sent to the end. */
class DrainerFailuresTest extends OrphanSlots {
  @Test
  void aRejectedFrameMarksTheSlot() throws Exception {
    orphan("app-0", own());
    server.script().nack(NackRule.always(0x03, "column n is SYMBOL"));
    try (DrainerPool pool = pool()) {
      String event = event("given up app-0");
      assertTrue(event.contains("column n is SYMBOL"), event);
      assertTrue(event.contains("SERVER_REJECTED"), event);
      assertEquals(1, pool.failed());
      assertEquals(1, pool.failedSlots());
      String reason = Files.readString(dir.resolve("app-0/.failed"));
      assertTrue(reason.contains("frames 0..9 are not acknowledged"), reason);
      assertTrue(reason.contains("column n is SYMBOL"), reason);
      server.script().nack(null);
      Thread.sleep(300);
      assertEquals(1, pool.failedSlots());
      assertTrue(info("app-0").hasSegments());
      // An operator decides.
      Files.delete(dir.resolve("app-0/.failed"));
      event("drained app-0");
      await(() -> pool.failedSlots() == 0);
    }
    assertRows("app-0");
  }

  @Test
  void aDroppedFrameIsKeptBesideTheSlot() throws Exception {
    orphan("app-0", own());
    server.script().nack(NackRule.once(0x03, "not this one"));
    try (DrainerPool pool = pool("on_schema_error", "drop")) {
      event("drained app-0");
    }
    server.awaitRows(table, ROWS - 1);
    try (Stream<Path> kept = Files.list(dir.resolve(".rejected"))) {
      assertEquals(
          List.of("app-0-0000000000000000.qwp", "app-0-0000000000000000.txt"),
          kept.map(file -> file.getFileName().toString()).sorted().toList());
    }
  }

  @Test
  void aRefusedCredentialIsTriedAgain() throws Exception {
    orphan("app-0", own());
    server.script().refuse(401, Map.of());
    try (DrainerPool pool = pool("reconnect_max_backoff_millis", "100")) {
      String event = event("later app-0");
      assertTrue(event.contains("AUTH_FAILED"), event);
      assertTrue(Files.readString(dir.resolve("app-0/.last_error")).contains("401"));
      assertFalse(info("app-0").failed());
      assertEquals(0, pool.failed());
      server.script().refuse(0, Map.of());
      event("drained app-0");
    }
    assertRows("app-0");
    assertFalse(Files.exists(dir.resolve("app-0/.last_error")));
  }

  @Test
  void thePlainSenderGivesUpAsTheSpecSays() throws Exception {
    orphan("app-0", own());
    server.script().refuse(401, Map.of());
    try (DrainerPool pool = pool(config(ConfigPreset.ENGINE, address()))) {
      event("given up app-0");
      assertTrue(Files.readString(dir.resolve("app-0/.failed")).contains("401"));
    }
    orphan("app-1", own());
    server.script().refuse(503, Map.of());
    SenderConfig brief =
        config(
            ConfigPreset.ENGINE,
            address(),
            "reconnect_max_duration_millis",
            "200",
            "reconnect_max_backoff_millis",
            "100");
    try (DrainerPool pool = pool(brief)) {
      String event = event("given up app-1");
      assertTrue(event.contains("OUTAGE_BUDGET_EXHAUSTED"), event);
    }
  }

  @Test
  void aDamagedSlotIsMarkedOnce() throws Exception {
    orphan("app-0", own());
    orphan("app-1", own());
    Path segment;
    try (Stream<Path> files = Files.list(dir.resolve("app-0"))) {
      segment = files.filter(f -> f.toString().endsWith(".sfa")).findFirst().orElseThrow();
    }
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      file.seek(24 + 8 + 20);
      int was = file.read();
      file.seek(24 + 8 + 20);
      file.write(was ^ 1);
    }
    try (DrainerPool pool = pool()) {
      String event = event("given up app-0");
      assertTrue(event.contains("SLOT_REFUSED"), event);
      event("drained app-1");
      await(() -> pool.failedSlots() == 1);
      assertEquals(1, pool.failed());
    }
    assertTrue(info("app-0").failed());
    assertTrue(info("app-0").hasSegments());
  }

  @Test
  void aMissingTableIsNoFaultOfTheSlot() throws Exception {
    TableSpec spec =
        TableSpec.builder(table)
            .column("slot", QwpType.SYMBOL)
            .column("n", QwpType.LONG)
            .designated("ts", QwpType.TIMESTAMP)
            .build();
    orphan("app-0", own(spec));
    try (DrainerPool pool = pool()) {
      String event = event("later app-0");
      assertTrue(event.contains("TABLE_MISSING"), event);
      assertFalse(tableIsThere());
      server.sql(
          "CREATE TABLE "
              + table
              + " (slot SYMBOL, n LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
      event("drained app-0");
    }
    assertRows("app-0");
  }

  @Test
  void aServerThatIsAwayIsWaitedFor() throws Exception {
    orphan("app-0", own());
    server.script().refuse(503, Map.of());
    try (DrainerPool pool = pool("reconnect_max_backoff_millis", "100")) {
      event("started app-0");
      await(() -> server.counters().upgradesRefused() > 2);
      assertEquals(1, pool.active());
      server.script().refuse(0, Map.of());
      event("drained app-0");
      assertEquals(0, pool.failed());
    }
    assertRows("app-0");
  }

  @Test
  void aSlotOfANewerClientIsLeftForIt() throws Exception {
    SenderConfig config = config(ConfigPreset.SINK, address());
    try (Slot slot = open("app-0", config)) {
      slot.writeTarget(own().toMap());
      SymbolDictionary dictionary = new SymbolDictionary();
      TableBlock block = new TableBlock(table, dictionary, 127);
      dictionary.idOf("known before");
      block.column("slot", QwpType.SYMBOL).putText("app-0");
      block.endRow();
      MessageEncoder encoder = new MessageEncoder();
      encoder.encode(block, 0, 1, dictionary, 1, 2);
      slot.ring().append(encoder.array(), 0, encoder.length(), -1, () -> "");
    }
    try (DrainerPool pool = pool()) {
      String event = event("later app-0");
      assertTrue(event.contains("SLOT_NEWER_FORMAT"), event);
      assertTrue(event.contains("frame 0 needs the symbols 0..0"), event);
      assertEquals(0, pool.failed() + pool.failedSlots());
    }
    assertFalse(info("app-0").failed());
    assertTrue(info("app-0").hasSegments() && !info("app-0").locked());
  }

  @Test
  void aFaultWhileLookingDoesNotEndTheLooking() throws Exception {
    orphan("app-0", own());
    orphan("app-1", own());
    AtomicInteger told = new AtomicInteger();
    DrainListener faulty =
        new DrainListener() {
          @Override
          public void drained(String slot, long publishedFsn) {
            if (told.getAndIncrement() == 0) {
              throw new AssertionError("injected");
            }
            listener.drained(slot, publishedFsn);
          }
        };
    SenderConfig config = config(ConfigPreset.SINK, address(), "max_background_drainers", "1");
    SlotTarget own = SlotTarget.of(config, List.of(), "adopter");
    try (DrainerPool pool =
        DrainerPool.builder(config, own).listener(faulty).scanMillis(50).start()) {
      event("drained app-");
      assertEquals(2, told.get());
    }
    assertRows("app-0", "app-1");
  }

  private void fifo(String file) throws Exception {
    Path path = dir.resolve(file);
    Files.createDirectories(path.getParent());
    assertEquals(0, new ProcessBuilder("mkfifo", path.toString()).start().waitFor());
  }

  @Test
  void whatCannotBeReadKeepsNoOtherSlotFromAdoption() throws Exception {
    orphan("app-9", own());
    fifo("app-1/.target"); // cannot be looked at
    orphan("app-2", own()); // can be looked at, and not opened
    orphan("app-3", own());
    fifo("app-2/sf-0000000000000009.sfa");
    fifo("app-3/sf-0000000000000009.sfa");
    try (DrainerPool pool = pool()) {
      event("drained app-9");
      String event = event("later app-2");
      assertTrue(event.contains("is a FIFO"), event);
      assertEquals(0, pool.failed(), "nothing is proven by what cannot be read");
      assertEquals(1, pool.failedSlots(), "app-1 waits for a person");
      assertFalse(info("app-2").failed());
      Files.delete(dir.resolve("app-2/sf-0000000000000009.sfa"));
      event("drained app-2");
    }
    assertRows("app-9", "app-2");
  }

  /** Gives threads, but for the chosen ones of those asked for, from 0. */
  private static final class FewThreads implements Executor {
    final AtomicInteger asked = new AtomicInteger();
    private final IntPredicate refused;

    FewThreads(IntPredicate refused) {
      this.refused = refused;
    }

    @Override
    public void execute(Runnable task) {
      if (refused.test(asked.getAndIncrement())) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      DrainerThreads.run(task);
    }
  }

  private DrainerPool pool(FewThreads threads) {
    SenderConfig config = config(ConfigPreset.SINK, address(), "max_background_drainers", "1");
    SlotTarget own = SlotTarget.of(config, List.of(), "adopter");
    DrainerPoolBuilder builder = DrainerPool.builder(config, own).listener(listener);
    return builder.scanMillis(50).workers(threads).start();
  }

  /** The first turns ask for one thread each, one that adopts for another. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
  void aThreadThatIsNotToBeHadEndsNoAdopting(int refused) throws Exception {
    orphan("app-0", own());
    try (DrainerPool pool = pool(new FewThreads(n -> n == refused))) {
      event("drained app-0");
      orphan("app-1", own());
      event("drained app-1");
      await(() -> pool.succeeded() == 2);
    }
    assertFalse(info("app-0").locked() || info("app-1").locked());
    assertRows("app-0", "app-1");
  }

  @Test
  void aPoolGivesItsSlotsBackAlsoWhereNoThreadIsToBeHad() throws Exception {
    orphan("app-0", own());
    server.script().holdAcks(true);
    AtomicBoolean none = new AtomicBoolean();
    DrainerPool pool = pool(new FewThreads(n -> none.get()));
    event("started app-0");
    none.set(true);
    pool.close();
    assertFalse(info("app-0").locked());
    server.script().holdAcks(false);
  }
}
