package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Each call of the disk fails in turn; then power cuts at random moments. */
@Timeout(120)
class DiskFaultTest {
  /** What a script did until it ended or failed. */
  private static final class Trace {
    final List<byte[]> appended = new ArrayList<>();
    long forced = -1;
    long acked = -1;
  }

  private interface Script {
    void run(SlotFixture fix, FaultyDiskIo io, Trace trace) throws Exception;
  }

  private static void append(Slot slot, Trace trace, int length) throws Exception {
    byte[] f = new byte[length];
    new Random(trace.appended.size()).nextBytes(f);
    long fsn = slot.ring().append(f, 0, length, 10_000, () -> "");
    assertEquals(trace.appended.size(), fsn);
    trace.appended.add(f);
  }

  private static void force(Slot slot, Trace trace) throws Exception {
    slot.ring().force();
    trace.forced = trace.appended.size() - 1;
  }

  private static void acknowledge(Slot slot, Trace trace, long fsn) {
    trace.acked = fsn; // from here on it may be gone
    slot.ring().acknowledge(fsn);
  }

  private static void fillAndRotate(SlotFixture fix, FaultyDiskIo io, Trace trace)
      throws Exception {
    try (Slot slot = fix.open("s", io)) {
      for (int i = 0; i < 9; i++) {
        append(slot, trace, 1500);
        if (i % 3 == 2) {
          force(slot, trace);
        }
      }
      acknowledge(slot, trace, 4);
      append(slot, trace, 3000);
      force(slot, trace);
    }
  }

  private static void reopenAndGoOn(SlotFixture fix, FaultyDiskIo io, Trace trace)
      throws Exception {
    fillAndRotate(fix, io, trace);
    try (Slot slot = fix.open("s", io)) {
      slot.writeTarget(Map.of("target_id", "x"));
      append(slot, trace, 100);
      force(slot, trace);
      acknowledge(slot, trace, 8);
      append(slot, trace, 3500);
      append(slot, trace, 3500);
      force(slot, trace);
      slot.writeFailed("because");
    }
  }

  private static void drain(SlotFixture fix, FaultyDiskIo io, Trace trace) throws Exception {
    fillAndRotate(fix, io, trace);
    try (Slot slot = fix.open("s", io)) {
      acknowledge(slot, trace, trace.appended.size() - 1);
    }
  }

  @Test
  void anyCallMayFailOnce() throws Exception {
    int cases = 0;
    for (Script script : scripts()) {
      cases += failEach(script, false);
    }
    assertTrue(cases > 150, "cases " + cases);
  }

  @Test
  void theDiskMayFailForEverFromAnyCallOn() throws Exception {
    for (Script script : scripts()) {
      failEach(script, true);
    }
  }

  private static List<Script> scripts() {
    return List.of(
        DiskFaultTest::fillAndRotate, DiskFaultTest::reopenAndGoOn, DiskFaultTest::drain);
  }

  private static int failEach(Script script, boolean forEver) throws Exception {
    int calls;
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      script.run(fix, io, new Trace());
      calls = io.log().size();
    }
    for (int n = 1; n <= calls; n++) {
      try (SlotFixture fix = SlotFixture.inMemory()) {
        FaultyDiskIo io = new FaultyDiskIo();
        io.failAt(n, forEver);
        Trace trace = new Trace();
        try {
          script.run(fix, io, trace);
        } catch (SfException e) {
          assertFalse(e.code() == ErrorCode.BACKPRESSURE_TIMEOUT, () -> "hung: " + e);
        }
        io.failAt(0, false);
        checkAfter(fix, trace, "call " + n + " of " + calls);
        assertEquals(0, fix.budget.usedBytes(), "call " + n);
      }
    }
    return calls;
  }

  /** Everything forced and not acknowledged is there, nothing is altered. */
  private static void checkAfter(SlotFixture fix, Trace trace, String where) throws Exception {
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      check(slot, trace, where);
      if (!slot.startedEmpty()) {
        slot.ring().append(new byte[] {1}, 0, 1, 10_000, () -> "");
      }
    }
  }

  private static void check(Slot slot, Trace trace, String where) {
    check(slot, trace, where, false);
  }

  private static void check(Slot slot, Trace trace, String where, boolean powerCut) {
    SegmentRing ring = slot.ring();
    boolean empty = ring.publishedFsn() < 0;
    assertTrue(
        empty ? trace.forced <= trace.acked : ring.publishedFsn() >= trace.forced,
        () -> where + ": forced " + trace.forced + " found " + ring.publishedFsn());
    // After a power cut the oldest names may be gone, if nothing in them was forced.
    boolean mayLackHead = powerCut && trace.forced <= trace.acked;
    assertTrue(
        empty || ring.ackedFsn() <= trace.acked || mayLackHead,
        () -> where + ": acknowledged " + trace.acked + " found " + ring.ackedFsn());
    for (long fsn = ring.ackedFsn() + 1; fsn <= ring.publishedFsn(); fsn++) {
      byte[] dst = new byte[ring.frameLength(fsn)];
      ring.copyFrame(fsn, dst, 0);
      assertArrayEquals(trace.appended.get((int) fsn), dst, where + " frame " + fsn);
    }
  }

  @Test
  void aPowerCutLosesNothingThatWasForced() throws Exception {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int opened = 0;
    for (int round = 0; round < 150; round++) {
      String where = "seed " + seed + " round " + round;
      try (SlotFixture fix = SlotFixture.inMemory()) {
        FaultyDiskIo io = new FaultyDiskIo();
        Trace trace = new Trace();
        try (Slot slot = fix.open("s", io)) {
          int steps = random.nextInt(25);
          for (int i = 0; i < steps; i++) {
            switch (random.nextInt(5)) {
              case 0 -> force(slot, trace);
              case 1 ->
                  acknowledge(
                      slot,
                      trace,
                      Math.max(trace.acked, random.nextInt(trace.appended.size() + 1) - 1));
              default -> append(slot, trace, 1 + random.nextInt(2500));
            }
          }
          io.cutPower(slot.directory(), fix.slot("cut"), random);
        }
        opened += checkCut(fix, trace, where);
      }
    }
    assertTrue(opened > 20, "opened " + opened);
  }

  /** A slot with holes in what was not forced may be refused; the forced frames are readable. */
  private static int checkCut(SlotFixture fix, Trace trace, String where) throws Exception {
    try (Slot slot = fix.open("cut", FaultyDiskIo.afterReboot())) {
      check(slot, trace, where, true);
      return 1;
    } catch (SfException e) {
      assertEquals(ErrorCode.SLOT_REFUSED, e.code(), where);
      boolean[] readable = new boolean[trace.appended.size()];
      for (String name : fix.files("cut")) {
        if (name.endsWith(".sfa")) {
          Path file = fix.slot("cut").resolve(name);
          SegmentScanner.Scan s = SegmentScanner.scan(file, DiskIo.PRODUCTION);
          for (long fsn = s.baseFsn(); s.baseFsn() >= 0 && fsn <= s.lastFsn(); fsn++) {
            readable[(int) fsn] = true;
          }
        }
      }
      for (long fsn = trace.acked + 1; fsn <= trace.forced; fsn++) {
        assertTrue(readable[(int) fsn], where + " frame " + fsn + ": " + e.getMessage());
      }
      return 0;
    }
  }

  @Test
  void afterAFailedForceTheRingIsReadOnly() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      Slot slot = fix.open("s", io);
      Trace trace = new Trace();
      append(slot, trace, 100);
      force(slot, trace);
      append(slot, trace, 100);
      io.failWhere("forceMap " + SegmentFormat.fileName(0));
      SfException e = assertThrows(SfException.class, () -> slot.ring().force());
      assertEquals(ErrorCode.DISK_FAILED, e.code());
      io.failWhere(null);
      assertEquals(
          ErrorCode.DISK_FAILED,
          assertThrows(SfException.class, () -> append(slot, trace, 100)).code());
      assertEquals(
          ErrorCode.DISK_FAILED,
          assertThrows(SfException.class, () -> slot.ring().force(), "for ever").code());
      assertTrue(slot.ring().failure().isPresent());
      check(slot, trace, "still readable");
      acknowledge(slot, trace, 0);
      slot.close();
      checkAfter(fix, trace, "reopened");
    }
  }

  @Test
  void aFaultInTheMapEndsAppendingOnly() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", io)) {
        Trace trace = new Trace();
        append(slot, trace, 1000);
        io.faultAtFence(true);
        SfException e = assertThrows(SfException.class, () -> slot.ring().force());
        assertEquals(ErrorCode.DISK_FAILED, e.code());
        assertTrue(e.getMessage().contains(SegmentFormat.fileName(0)), e::getMessage);
        assertThrows(SfException.class, () -> append(slot, trace, 1));
        assertEquals(0, slot.ring().publishedFsn());
        check(slot, trace, "readable");
      }
    }
  }

  @Test
  void aFullDiskMakesTheProducerWaitAndThenGoOn() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      io.full(true);
      try (Slot slot = fix.open("s", io)) {
        SfException e =
            assertThrows(
                SfException.class,
                () -> slot.ring().append(new byte[9], 0, 9, 300, () -> "DETAIL"));
        assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, e.code());
        assertTrue(e.getMessage().contains("the disk is full"), e::getMessage);
        io.full(false);
        assertEquals(0, slot.ring().append(new byte[9], 0, 9, 20_000, () -> ""));
      }
    }
  }

  @Test
  void theFloorOfFreeBytesIsRespected() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      RingSettings s =
          new RingSettings(SlotFixture.SEGMENT, Durability.MEMORY, 1000, Long.MAX_VALUE / 2);
      try (Slot slot =
          Slot.open(
              fix.sfDir,
              "s",
              s,
              fix.budget.open(SlotFixture.SEGMENT),
              fix.keeper,
              DiskIo.PRODUCTION)) {
        SfException e =
            assertThrows(
                SfException.class, () -> slot.ring().append(new byte[9], 0, 9, 200, () -> ""));
        assertTrue(e.getMessage().contains("sf_min_free_bytes"), e::getMessage);
        assertTrue(fix.files("s").stream().noneMatch(n -> n.endsWith(".sfa")));
      }
    }
  }

  @Test
  void aFailedUnlinkIsTriedAgainAndTheBudgetStaysTrue() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", io)) {
        Trace trace = new Trace();
        for (int i = 0; i < 8; i++) {
          append(slot, trace, 3000);
        }
        io.failWhere("delete " + SegmentFormat.fileName(0));
        acknowledge(slot, trace, 6);
        await(
            () ->
                io.log().stream().filter(c -> c.equals("delete sf-0000000000000000.sfa")).count()
                    > 2);
        assertTrue(fix.files("s").contains(SegmentFormat.fileName(0)));
        io.failWhere(null);
        await(() -> fix.files("s").stream().filter(n -> n.endsWith(".sfa")).count() == 2);
        await(() -> fix.budget.usedBytes() == 2 * SlotFixture.SEGMENT);
        List<String> log = io.log();
        int mark = log.indexOf("force " + AckWatermark.FILE);
        assertTrue(
            mark >= 0 && mark < log.indexOf("delete sf-0000000000000000.sfa"), log::toString);
      }
    }
  }

  @Test
  void theFileThatCannotBeForcedIsNamed() throws Exception {
    for (String file : List.of(AckWatermark.FILE, SlotWitness.FILE)) {
      try (SlotFixture fix = SlotFixture.inMemory()) {
        FaultyDiskIo io = new FaultyDiskIo();
        try (Slot slot = fix.open("s", io)) {
          Trace trace = new Trace();
          for (int i = 0; i < 4; i++) {
            append(slot, trace, 3000);
          }
          io.failWhere("force " + file);
          acknowledge(slot, trace, 2);
          await(() -> slot.ring().failure().isPresent());
          String message = slot.ring().failure().get().getMessage();
          assertTrue(message.contains(": " + file + ": injected"), message);
          io.failWhere(null);
        }
      }
    }
  }

  @Test
  void watermarkAndWitnessAreWrittenOnlyWhereTheyChangeAndForcedOnce() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      byte[][] frames = SlotFiles.frames(3);
      for (int i = 0; i < 3; i++) {
        SlotFiles.write(
            fix.slot("s"), SegmentFormat.fileName(i), SlotFiles.segment(4096, i, frames[i]));
      }
      SlotFiles.write(fix.slot("s"), AckWatermark.FILE, SlotFiles.watermark(0));
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", io)) {
        assertEquals(1, count(io, "force " + AckWatermark.FILE));
        assertEquals(1, count(io, "force " + SlotWitness.FILE));
        final long before = count(io, "write " + AckWatermark.FILE);
        for (int i = 0; i < 3; i++) {
          final long written = 3 + i;
          slot.ring().append(new byte[10], 0, 10, -1, () -> "");
          await(
              () ->
                  SlotWitness.read(slot.directory(), DiskIo.PRODUCTION).get().written() == written);
        }
        assertEquals(before, count(io, "write " + AckWatermark.FILE), io.log()::toString);
        slot.ring().acknowledge(1);
        await(() -> count(io, "write " + AckWatermark.FILE) == before + 1);
      }
    }
  }

  private static long count(FaultyDiskIo io, String call) {
    return io.log().stream().filter(call::equals).count();
  }

  private interface Condition {
    boolean met() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    while (!condition.met()) {
      Thread.sleep(2); // ended by the time-out of the test
    }
  }
}
