package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What each durability forces, and when. */
@Timeout(60)
class DurabilityTest {
  private static void append(Slot slot, int length) throws InterruptedException {
    slot.ring().append(new byte[length], 0, length, -1, () -> "");
  }

  @Test
  void periodicDurabilityForcesByItself() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", SlotFixture.SEGMENT, Durability.PERIODIC, io)) {
        append(slot, 10);
        await(() -> io.log().contains("forceMap " + SegmentFormat.fileName(0)));
      }
      io.failAt(0, false);
      try (Slot slot = fix.open("m", SlotFixture.SEGMENT, Durability.MEMORY, io)) {
        append(slot, 10);
      }
      assertTrue(io.log().stream().noneMatch(c -> c.startsWith("forceMap")), io.log()::toString);
    }
  }

  @Test
  void settlingForcesOnlyWhereTheDurabilitySaysSo() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      for (Durability durability : Durability.values()) {
        FaultyDiskIo io = new FaultyDiskIo();
        RingSettings settings = new RingSettings(SlotFixture.SEGMENT, durability, 3_600_000, 0);
        SegmentBudget.Share share = fix.budget.open(SlotFixture.SEGMENT);
        try (Slot slot = Slot.open(fix.sfDir, "s-" + durability, settings, share, fix.keeper, io)) {
          append(slot, 10);
          slot.ring().settle();
          assertEquals(
              durability == Durability.FLUSH,
              io.log().contains("forceMap " + SegmentFormat.fileName(0)),
              durability + ": " + io.log());
          append(slot, 10);
          io.faultAtFence(true);
          SfException e = assertThrows(SfException.class, slot.ring()::settle);
          assertEquals(ErrorCode.DISK_FAILED, e.code());
        }
      }
    }
  }

  @Test
  void aForceAfterAReopenForcesTheNamesThatWereThere() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      try (Slot slot = fix.open("s", SlotFixture.SEGMENT, Durability.MEMORY, DiskIo.PRODUCTION)) {
        append(slot, 3000);
        append(slot, 3000);
      }
      fix.budget = new SegmentBudget(2 * SlotFixture.SEGMENT); // none left for a spare
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", io)) {
        io.failAt(0, false); // forgets the log
        slot.ring().force();
        assertTrue(io.log().contains("forceDirectory s"), io.log()::toString);
      }
    }
  }

  @Test
  void aForceBesideAFileThatCannotBeDeletedIsNoFailure() throws Exception {
    try (SlotFixture fix = SlotFixture.inMemory()) {
      FaultyDiskIo io = new FaultyDiskIo();
      try (Slot slot = fix.open("s", io)) {
        for (int i = 0; i < 3; i++) {
          append(slot, 3000);
        }
        io.failWhere("delete " + SegmentFormat.fileName(0));
        slot.ring().acknowledge(0);
        await(() -> io.log().contains("delete " + SegmentFormat.fileName(0)));
        slot.ring().force();
        assertTrue(slot.ring().failure().isEmpty());
        io.failWhere(null);
      }
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(2); // ended by the time-out of the test
    }
  }
}
