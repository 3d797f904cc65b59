package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Function;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

@Timeout(60)
class SlotLockTest {
  private final SlotFixture fix = new SlotFixture();

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  /** Holds a slot with one frame until it is killed. */
  static final class Holder {
    public static void main(String[] args) throws Exception {
      RingSettings s = new RingSettings(4096, Durability.MEMORY, 1000, 0);
      Slot slot =
          Slot.open(
              Path.of(args[0]),
              "s",
              s,
              new SegmentBudget(8192).open(4096),
              SegmentKeeper.shared(),
              DiskIo.PRODUCTION);
      slot.ring().append(new byte[] {42}, 0, 1, -1, () -> "");
      System.out.println("held");
      Thread.sleep(60_000);
    }
  }

  @Test
  void anotherJvmIsExcludedUntilItDiesAndItsFramesAreThere() throws Exception {
    try (ChildJvm child = new ChildJvm(Holder.class, null, fix.sfDir.toString())) {
      child.await("held");
      SfException e = assertThrows(SfException.class, () -> fix.open("s", DiskIo.PRODUCTION));
      assertEquals(ErrorCode.SLOT_LOCKED, e.code());
      assertTrue(e.getMessage().contains("holder=" + child.process.pid()), e::getMessage);
      SlotInfo info = SlotDirectory.inspect(fix.sfDir, "s", DiskIo.PRODUCTION);
      assertTrue(info.locked());
      assertEquals(child.process.pid(), info.holderPid().getAsLong());
      child.process.destroyForcibly().waitFor(); // SIGKILL
    }
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      assertEquals(0, slot.ring().publishedFsn());
      byte[] f = new byte[1];
      slot.ring().copyFrame(0, f, 0);
      assertEquals(42, f[0]);
    }
  }

  /** As a child process has one until it runs its program. */
  @Test
  void aCopyOfTheDescriptorKeepsNoLock() throws Exception {
    Assumptions.assumeTrue(Files.exists(Path.of("/proc/self/fd")), "no /proc");
    Path file = Files.createFile(fix.sfDir.resolve("copied.lock"));
    DiskIo.Lock lock = DiskIo.PRODUCTION.lock(file);
    int copy = Function.getFunction("c", "dup").invokeInt(new Object[] {descriptorOf(file)});
    try {
      lock.close();
      DiskIo.Lock again = DiskIo.PRODUCTION.lock(file);
      assertNotNull(again);
      again.close();
    } finally {
      LibC.closeDescriptor(copy, file);
    }
  }

  private static int descriptorOf(Path file) throws IOException {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        if (Files.exists(descriptor) && Files.isSameFile(descriptor, file)) {
          return Integer.parseInt(descriptor.getFileName().toString());
        }
      }
    }
    throw new AssertionError(file + " is not open");
  }

  @Test
  void theFlockCommandIsExcludedOnBothFilesAndExcludesUs() throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/flock")), "no flock command");
    Path inner = fix.slot("s").resolve(".lock");
    Path outer = fix.sfDir.resolve(".slot-locks/s.lock");
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      assertEquals(1, flock(inner));
      assertEquals(1, flock(outer));
    }
    for (Path file : List.of(inner, outer)) {
      Process other =
          new ProcessBuilder("flock", file.toString(), "-c", "echo locked; read line").start();
      try {
        assertEquals("locked", other.inputReader().readLine());
        SfException e = assertThrows(SfException.class, () -> fix.open("s", DiskIo.PRODUCTION));
        assertEquals(ErrorCode.SLOT_LOCKED, e.code());
        assertTrue(SlotDirectory.inspect(fix.sfDir, "s", DiskIo.PRODUCTION).locked());
      } finally {
        other.outputWriter().close();
        assertTrue(other.waitFor(20, TimeUnit.SECONDS));
      }
    }
    assertFalse(SlotDirectory.inspect(fix.sfDir, "s", DiskIo.PRODUCTION).locked());
    fix.open("s", DiskIo.PRODUCTION).close();
  }

  private static int flock(Path file) throws Exception {
    return new ProcessBuilder("flock", "-n", file.toString(), "true").start().waitFor();
  }

  @Test
  void aLockFileThatWasReplacedIsNotTakenForTheOldOne() throws Exception {
    Path file = fix.sfDir.resolve("lock");
    try (DiskIo.Lock old = DiskIo.PRODUCTION.lock(file)) {
      Files.delete(file);
      try (DiskIo.Lock fresh = DiskIo.PRODUCTION.lock(file)) {
        assertEquals(null, DiskIo.PRODUCTION.lock(file));
        assertFalse(fresh == old);
      }
    }
  }

  @Test
  void lookingNeverTakesTheLock() throws Exception {
    fix.open("s", DiskIo.PRODUCTION).close();
    FaultyDiskIo io = new FaultyDiskIo();
    SlotDirectory.list(fix.sfDir, io);
    SlotDirectory.firstFreeName(fix.sfDir, "s", 0, io);
    assertTrue(io.log().stream().noneMatch(c -> c.startsWith("lock ")), io.log()::toString);
  }

  @Test
  void holdersAreFoundByDeviceAndInodeOrByTheirRecord() {
    String locks =
        "1: POSIX  ADVISORY  WRITE 10 08:01:77 0 EOF\n"
            + "2: FLOCK  ADVISORY  WRITE 11 08:01:78 0 EOF\n"
            + "2: -> FLOCK  ADVISORY  WRITE 12 08:01:79 0 EOF\n"
            + "3: FLOCK  ADVISORY  WRITE 13 00:2a:80 0 EOF\n"
            + "4: FLOCK  ADVISORY  WRITE 0 08:01:81 0 EOF\n";
    long dev = 0x801;
    OptionalLong none = OptionalLong.empty();
    assertFalse(LockHolders.find(locks, dev, 77, none).held(), "fcntl locks exclude nobody");
    assertEquals(11, LockHolders.find(locks, dev, 78, none).pid().getAsLong());
    assertFalse(LockHolders.find(locks, dev, 79, none).held(), "only waits");
    assertFalse(LockHolders.find(locks, dev, 80, none).held(), "another device");
    assertTrue(LockHolders.find(locks, dev, 80, OptionalLong.of(13)).held(), "but its record fits");
    assertEquals(
        new LockHolders.Holder(true, none),
        LockHolders.find(locks, dev, 81, none),
        "in a container we cannot see");
  }

  /**
   * Whoever does not get the lock is told so, whatever its owner writes or takes away meanwhile.
   */
  @Test
  void whoLosesTheRaceIsToldSlotLocked() throws Exception {
    Files.createDirectories(fix.slot("s"));
    CyclicBarrier start = new CyclicBarrier(2);
    Callable<Integer> work =
        () -> {
          int taken = 0;
          for (int round = 0; round < 2_000; round++) {
            start.await(20, TimeUnit.SECONDS);
            try (SlotLock lock = SlotLock.acquire(fix.sfDir, "s", DiskIo.PRODUCTION)) {
              taken++;
              if (round % 2 == 0) {
                lock.sign();
              }
            } catch (SfException e) {
              assertEquals(ErrorCode.SLOT_LOCKED, e.code());
            }
          }
          return taken;
        };
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      int taken = 0;
      for (Future<Integer> each : List.of(threads.submit(work), threads.submit(work))) {
        taken += each.get();
      }
      assertTrue(taken >= 2_000, "each round has a winner: " + taken);
    } finally {
      threads.shutdownNow();
    }
  }
}
