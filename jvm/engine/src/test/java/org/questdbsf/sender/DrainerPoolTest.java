package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;
import org.questdbsf.testserver.NackRule;
import org.questdbsf.testserver.TestServer;

/** Real slots, a real server, and pools that adopt the ones for the other. */
class DrainerPoolTest {
  private static final int ROWS = 10;
  private static final AtomicInteger TABLES = new AtomicInteger();

  private static TestServer server;

  @TempDir Path dir;
  private String table;
  private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
  private final DrainListener listener =
      new DrainListener() {
        @Override
        public void started(String slot, long ackedFsn, long publishedFsn) {
          events.add("started " + slot);
        }

        @Override
        public void drained(String slot, long publishedFsn) {
          events.add("drained " + slot);
        }

        @Override
        public void failed(String slot, SfException error, boolean givenUp) {
          events.add((givenUp ? "given up " : "later ") + slot + " " + error.getMessage());
        }
      };

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void fresh() {
    table = "orphans" + TABLES.incrementAndGet();
  }

  @AfterEach
  void healthy() {
    server.script().reset();
  }

  private SenderConfig config(ConfigPreset preset, String address, String... more) {
    Map<ConnectKey, String> keys = new EnumMap<>(ConnectKey.class);
    keys.put(ConnectKey.ADDR, address);
    keys.put(ConnectKey.SF_DIR, dir.toString());
    keys.put(ConnectKey.SENDER_ID, "app");
    keys.put(ConnectKey.SF_MAX_SEGMENT_BYTES, "64k");
    keys.put(ConnectKey.SF_MAX_TOTAL_BYTES, "1m");
    keys.put(ConnectKey.SF_MIN_FREE_BYTES, "0");
    keys.put(ConnectKey.DRAIN_ORPHANS, "own");
    keys.put(ConnectKey.INITIAL_CONNECT_RETRY, "async");
    keys.put(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0");
    for (int i = 0; i < more.length; i += 2) {
      keys.put(ConnectKey.named(more[i]).orElseThrow(), more[i + 1]);
    }
    return SenderConfig.of(keys, preset);
  }

  private static String address() {
    return "127.0.0.1:" + server.port();
  }

  private SlotTarget own(TableSpec... tables) {
    return SlotTarget.of(config(ConfigPreset.SINK, address()), List.of(tables), "test");
  }

  /** A slot with frames that nobody sent, as a process leaves it that ended in an outage. */
  private void orphan(String name, SlotTarget target) throws Exception {
    SenderConfig away = config(ConfigPreset.SINK, "127.0.0.1:1");
    try (Sender sender = Sender.builder(away).freshSlot(open(name, away)).target(target).build()) {
      for (int i = 0; i < ROWS; i++) {
        sender.table(table).symbol("slot", name).longColumn("n", i).at(i, ChronoUnit.SECONDS);
        sender.flush();
      }
    }
  }

  private Slot open(String name, SenderConfig config) throws InterruptedException {
    return Slot.open(
        dir,
        name,
        config.ringSettings(),
        new SegmentBudget(config.totalBytes()).open(config.segmentBytes()),
        SegmentKeeper.shared(),
        DiskIo.PRODUCTION);
  }

  private DrainerPool pool(SenderConfig config) {
    SlotTarget own = SlotTarget.of(config, List.of(), "adopter");
    return DrainerPool.builder(config, own).listener(listener).scanMillis(50).start();
  }

  private DrainerPool pool(String... more) {
    return pool(config(ConfigPreset.SINK, address(), more));
  }

  private String event(String prefix) throws InterruptedException {
    List<String> seen = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (true) {
      String event = events.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      assertTrue(event != null, "no event '" + prefix + "', but " + seen);
      if (event.startsWith(prefix)) {
        return event;
      }
      seen.add(event);
    }
  }

  private static void await(BooleanSupplier holds) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "not in time");
      Thread.sleep(10);
    }
  }

  private SlotInfo info(String name) {
    return SlotDirectory.inspect(dir, name, DiskIo.PRODUCTION);
  }

  private void assertRows(String... slots) {
    server.awaitRows(table, (long) ROWS * slots.length);
    for (String slot : slots) {
      Object[] row =
          server
              .query(
                  "SELECT count_distinct(n), sum(n) FROM " + table + " WHERE slot='" + slot + "'")
              .get(0);
      assertEquals((long) ROWS, row[0], slot);
    }
  }

  private boolean tableIsThere() {
    return !server.query("SELECT 1 FROM tables() WHERE table_name='" + table + "'").isEmpty();
  }

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
      }
      assertTrue(info("app-2").hasSegments());
      server.script().holdAcks(false);
      event("drained app-2");
    }
  }

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
