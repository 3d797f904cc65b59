package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Slots that take long to be opened, for their size or for a disk that hangs. */
@Timeout(60)
class SlowOpeningTest {
  private static final int SLOW = 4;

  private final SlotFixture fix = SlotFixture.inMemory();
  private final ExecutorService callers = Executors.newCachedThreadPool();

  @AfterEach
  void cleanUp() {
    callers.shutdownNow();
    fix.close();
  }

  private void fill(String name, int segments) throws InterruptedException {
    try (Slot slot = fix.open(name, DiskIo.PRODUCTION)) {
      for (int i = 0; i < segments; i++) {
        byte[] frame = new byte[3000];
        slot.ring().append(frame, 0, frame.length, 20_000, () -> "");
      }
    }
  }

  private boolean isLocked(String name) {
    return SlotDirectory.inspect(fix.sfDir, name, DiskIo.PRODUCTION).locked();
  }

  @Test
  void slowSlotsKeepNoOtherFromBeingOpenedAndClosed() throws Exception {
    StuckDisk disk = new StuckDisk("open", "slow-", SLOW);
    List<Future<Slot>> slow = new ArrayList<>();
    for (int i = 0; i < SLOW; i++) {
      String name = "slow-" + i;
      fill(name, 1);
      slow.add(callers.submit(() -> fix.open(name, disk.io())));
    }
    disk.awaitStuck();
    fill("quick", 1); // opens, writes, closes
    try (Slot quick = fix.open("quick", disk.io())) {
      assertEquals(1, quick.report().frames());
    }
    assertFalse(isLocked("quick"));
    disk.letGo();
    for (Future<Slot> slot : slow) {
      slot.get().close();
    }
  }

  /** Whoever gave up has not to wait for gigabytes, and keeps nobody else from the slot by them. */
  @Test
  void ofASlotThatNobodyWaitsForNoFurtherSegmentIsRead() throws Exception {
    fill("slow", 5);
    StuckDisk disk = new StuckDisk("open", "slow", 1);
    Thread[] opener = new Thread[1];
    Future<Slot> opening =
        callers.submit(
            () -> {
              opener[0] = Thread.currentThread();
              return fix.open("slow", disk.io());
            });
    disk.awaitStuck();
    opener[0].interrupt();
    ExecutionException gaveUp = assertThrows(ExecutionException.class, opening::get);
    assertTrue(gaveUp.getCause() instanceof InterruptedException, gaveUp::toString);
    disk.letGo();
    while (isLocked("slow")) {
      Thread.sleep(5); // ended by the time-out of the class
    }
    assertEquals(1, disk.calls());
    try (Slot next = fix.open("slow", DiskIo.PRODUCTION)) {
      assertEquals(5, next.report().frames());
    }
  }
}
