package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.slot.Slot;

/** Which slots are adopted, by whom, and how that ends. */
class DrainerPoolTest extends OrphanSlots {
  @Test
  void adoptsItsFamilyAndLeavesTheSlotsClean() throws Exception {
    for (int i = 0; i < 3; i++) {
      orphan("app-" + i, own());
    }
    orphan("application-0", own());
    orphan("app-x-0", own());
    try (DrainerPool pool = pool("max_background_drainers", "2")) {
      for (int i = 0; i < 3; i++) {
        event("drained");
      }
      assertRows("app-0", "app-1", "app-2");
      assertEquals(3, pool.succeeded());
      assertEquals(0, pool.failed() + pool.failedSlots() + pool.strandedSlots());
      for (int i = 0; i < 3; i++) {
        assertFalse(info("app-" + i).hasSegments());
      }
      assertTrue(info("application-0").hasSegments());
      assertTrue(info("app-x-0").hasSegments());
    }
    try (DrainerPool pool = pool("drain_orphans", "all")) {
      event("drained");
      event("drained");
      assertRows("application-0", "app-x-0");
    }
  }

  @Test
  void slotsForAnotherTargetAreStrandedAndUntouched() throws Exception {
    SenderConfig elsewhere = config(ConfigPreset.SINK, "10.0.0.1:9000");
    orphan("app-0", SlotTarget.of(elsewhere, List.of(), "test"));
    orphan("app-1", own());
    Files.delete(dir.resolve("app-1/.target"));
    orphan("app-2", own());
    Map<String, Long> before = files("app-0");
    try (DrainerPool pool = pool()) {
      event("drained app-2");
      await(() -> pool.strandedSlots() == 2);
      assertRows("app-2");
      assertEquals(0, pool.active());
      assertEquals(0, pool.failed());
    }
    assertEquals(before, files("app-0"));
    assertTrue(info("app-1").hasSegments());
    assertFalse(info("app-1").failed());

    // The plain sender drains what other clients left: they write no .target.
    try (DrainerPool pool = pool(config(ConfigPreset.ENGINE, address()))) {
      event("drained app-1");
      await(() -> pool.strandedSlots() == 1);
    }
  }

  private Map<String, Long> files(String slot) throws IOException {
    Map<String, Long> all = new TreeMap<>();
    try (Stream<Path> files = Files.list(dir.resolve(slot))) {
      for (Path file : files.toList()) {
        all.put(file.getFileName().toString(), Files.getLastModifiedTime(file).toMillis());
      }
    }
    return all;
  }

  @Test
  void aSlotInUseIsLeftAloneUntilItIsFree() throws Exception {
    orphan("app-0", own());
    SenderConfig config = config(ConfigPreset.SINK, address());
    try (DrainerPool pool = pool()) {
      event("drained app-0");
      orphan("app-1", own());
      event("drained app-1");
      Slot held = open("app-2", config);
      try (Sender sender = Sender.builder(config).freshSlot(held).target(own()).build()) {
        server.script().holdAcks(true);
        sender.table(table).symbol("slot", "app-2").longColumn("n", 0).at(0, ChronoUnit.SECONDS);
        sender.flush();
        Thread.sleep(300);
        assertEquals(0, pool.active());
        long written = sender.counters().bytesWritten();
        assertEquals(written, sender.counters().unackedBytes(), "frames, not their segments");
      }
      assertTrue(info("app-2").hasSegments());
      server.script().holdAcks(false);
      event("drained app-2");
    }
  }

  @Test
  void aSuspendedTableIsKnownWhileItsSlotIsSent() throws Exception {
    TableSpec spec =
        TableSpec.builder(table)
            .designated("ts", QwpType.TIMESTAMP)
            .onMissing(OnMissingTable.CREATE)
            .build();
    server.sql(spec.createDdl());
    server.sql("ALTER TABLE " + table + " SUSPEND WAL");
    server.script().holdAcks(true);
    orphan("app-0", own(spec));
    try (DrainerPool pool = pool()) {
      await(() -> pool.suspendedTables().equals(Set.of(table.toLowerCase(Locale.ROOT))));
      server.script().holdAcks(false);
      event("drained app-0");
      assertEquals(Set.of(), pool.suspendedTables());
    }
    server.sql("ALTER TABLE " + table + " RESUME WAL");
    assertRows("app-0");
  }

  @Test
  void theTableIsMadeAsTheSlotSaysBeforeAnythingIsSent() throws Exception {
    TableSpec spec =
        TableSpec.builder(table)
            .column("slot", QwpType.SYMBOL)
            .column("n", QwpType.LONG)
            .designated("ts", QwpType.TIMESTAMP)
            .dedupKeys(List.of("slot"))
            .requireDedup(true)
            .onMissing(OnMissingTable.CREATE)
            .build();
    orphan("app-0", own(spec));
    try (DrainerPool pool = pool()) {
      event("drained app-0");
    }
    assertRows("app-0");
    assertEquals(
        List.of("slot", "ts"),
        server
            .query("SELECT \"column\" FROM table_columns('" + table + "') WHERE upsertKey")
            .stream()
            .map(row -> (String) row[0])
            .sorted()
            .toList());
  }

  @Test
  void closeIsQuickAndLeavesTheRestForTheNext() throws Exception {
    orphan("app-0", own());
    orphan("app-1", own());
    server.script().holdAcks(true);
    DrainerPool pool = pool("max_background_drainers", "1");
    event("started");
    await(() -> server.counters().rowsUnacked() > 0);
    assertEquals(1, pool.active());
    assertEquals(ROWS - 1, pool.progress().get(0).publishedFsn());
    long began = System.nanoTime();
    pool.close();
    assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(5));
    assertEquals(0, pool.active());
    pool.close();
    assertTrue(info("app-0").hasSegments() && !info("app-0").locked());
    assertEquals("test", info("app-0").target().get("application"), "the slot's own target stays");
    assertTrue(info("app-1").hasSegments() && !info("app-1").locked());
    server.script().holdAcks(false);
    try (DrainerPool next = pool()) {
      event("drained");
      event("drained");
    }
    server.awaitRows(table, 2L * ROWS);
  }

  @Test
  void withoutDrainersOrphansAreOnlyCounted() throws Exception {
    orphan("app-0", SlotTarget.of(config(ConfigPreset.SINK, "h"), List.of(), "test"));
    orphan("app-1", own());
    try (DrainerPool pool = pool("max_background_drainers", "0")) {
      await(() -> pool.strandedSlots() == 1);
      assertEquals(0, pool.active());
    }
    assertTrue(info("app-1").hasSegments());
  }

  @Test
  void poolsThatAreClosedLeaveNoThread() throws Exception {
    for (int i = 0; i < 20; i++) {
      if (i % 10 == 0) {
        // A pool that is closed while it opens a slot gives the slot back a moment later.
        await(() -> !info("app-0").locked());
        orphan("app-0", own());
      }
      try (DrainerPool pool = pool()) {
        if (i % 10 == 0) {
          event("started");
        }
      }
    }
    await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(n -> n.startsWith("questdb-sf-orphan") || n.contains("send-app")));
  }
}
