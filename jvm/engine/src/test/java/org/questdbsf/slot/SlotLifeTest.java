package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

@Timeout(90)
class SlotLifeTest {
  private final SlotFixture fix = SlotFixture.inMemory();

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  private static void append(Slot slot, int length) throws InterruptedException {
    slot.ring().append(new byte[length], 0, length, 20_000, () -> "");
  }

  @Test
  void aThousandLivesGainNothing() throws Exception {
    oneLife(0);
    oneLife(1);
    long descriptors = count("/proc/self/fd");
    long threads = count("/proc/self/task");
    long maps = segmentMaps();
    for (int i = 2; i < 1000; i++) {
      oneLife(i);
    }
    assertTrue(count("/proc/self/fd") <= descriptors + 2, "descriptors");
    assertTrue(count("/proc/self/task") <= threads + 3, "threads");
    assertEquals(maps, segmentMaps(), "maps");
    assertEquals(0, fix.budget.usedBytes());
    assertEquals(3, Files.list(fix.sfDir).count(), "one slot, its locks, the marker");
  }

  private void oneLife(int i) throws Exception {
    try (Slot slot = fix.open("s", SlotFixture.SEGMENT, Durability.MEMORY, DiskIo.PRODUCTION)) {
      append(slot, 3000);
      append(slot, 3000);
      if (i % 3 == 2) {
        slot.ring().acknowledge(slot.ring().publishedFsn());
      }
    }
  }

  private static long count(String directory) throws IOException {
    try (var entries = Files.newDirectoryStream(Path.of(directory))) {
      long n = 0;
      for (Path ignored : entries) {
        n++;
      }
      return n;
    }
  }

  private long segmentMaps() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains(fix.sfDir.toString()))
        .count();
  }

  @Test
  void anInterruptedForceAndAppendLeaveTheRingUsable() throws Exception {
    fix.budget = new SegmentBudget(2 * SlotFixture.SEGMENT);
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      append(slot, 3000);
      append(slot, 3000);
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, () -> append(slot, 3000));
      Thread.currentThread().interrupt();
      try {
        slot.ring().force();
        assertTrue(Thread.interrupted(), "forced before it had to wait");
      } catch (InterruptedException e) {
        assertFalse(Thread.currentThread().isInterrupted());
      }
      slot.ring().acknowledge(0);
      append(slot, 3000);
      slot.ring().force();
      assertEquals(2, slot.ring().publishedFsn());
      assertTrue(slot.ring().failure().isEmpty());
    }
  }

  @Test
  void anInterruptedOpenGivesTheLockAndTheBudgetBack() throws Exception {
    CountDownLatch inLock = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    DiskIo slow =
        new FaultyDiskIo() {
          @Override
          public Lock lock(Path file) throws IOException {
            inLock.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
            return super.lock(file);
          }
        };
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                fix.open("s", slow);
              } catch (Throwable e) {
                seen.set(e);
              }
            });
    caller.start();
    inLock.await();
    caller.interrupt();
    caller.join();
    assertEquals(InterruptedException.class, seen.get().getClass());
    goOn.countDown();
    while (true) { // ended by the time-out of the test
      try {
        fix.open("s", DiskIo.PRODUCTION).close();
        break;
      } catch (SfException e) {
        assertEquals(ErrorCode.SLOT_LOCKED, e.code());
        Thread.sleep(2);
      }
    }
    while (fix.budget.usedBytes() != 0) {
      Thread.sleep(2);
    }
  }

  @Test
  void closingIsNotEndedByAnInterrupt() throws Exception {
    Slot slot = fix.open("s", DiskIo.PRODUCTION);
    append(slot, 10);
    Thread.currentThread().interrupt();
    slot.close();
    assertTrue(Thread.interrupted());
    assertFalse(SlotDirectory.inspect(fix.sfDir, "s", DiskIo.PRODUCTION).locked());
    assertEquals(
        ErrorCode.SENDER_CLOSED, assertThrows(SfException.class, () -> append(slot, 1)).code());
    assertEquals(
        ErrorCode.SENDER_CLOSED,
        assertThrows(SfException.class, () -> slot.ring().frameLength(0)).code());
    slot.close();
  }

  @Test
  void networkFileSystemsAreRefusedByName() {
    for (String type : new String[] {"nfs4", "cifs", "fuse.sshfs"}) {
      DiskIo io =
          new FaultyDiskIo() {
            @Override
            public String fileSystemType(Path path) {
              return type;
            }
          };
      SfException e = assertThrows(SfException.class, () -> fix.open("s", io));
      assertEquals(ErrorCode.SLOT_FILESYSTEM, e.code());
      assertTrue(e.getMessage().contains(type), e::getMessage);
      assertFalse(Files.exists(fix.slot("s")));
    }
  }

  @Test
  void namesThatAreNoDirectoryNamesAreRefused() {
    for (String name : new String[] {"", "..", ".x", "a/b", "a\0b", "ä", "a".repeat(201)}) {
      SfException e = assertThrows(SfException.class, () -> fix.open(name, DiskIo.PRODUCTION));
      assertEquals(ErrorCode.CONFIG_INVALID_VALUE, e.code(), name);
    }
    assertEquals(0, fix.budget.usedBytes());
  }

  @Test
  void theFreeNameIsTheLowestThatHoldsNothing() throws Exception {
    fix.open("l-0", DiskIo.PRODUCTION).close(); // drained
    try (Slot slot = fix.open("l-1", DiskIo.PRODUCTION)) {
      append(slot, 1);
    }
    try (Slot slot = fix.open("l-2", DiskIo.PRODUCTION)) {
      slot.writeFailed("poison");
    }
    assertEquals("l-0", SlotDirectory.firstFreeName(fix.sfDir, "l", 0, DiskIo.PRODUCTION));
    try (Slot slot = fix.open("l-0", DiskIo.PRODUCTION)) {
      assertEquals("l-3", SlotDirectory.firstFreeName(fix.sfDir, "l", 0, DiskIo.PRODUCTION));
    }
    Thread.currentThread().interrupt();
    assertEquals("l-0", SlotDirectory.firstFreeName(fix.sfDir, "l", 0, DiskIo.PRODUCTION));
    assertEquals(3, SlotDirectory.list(fix.sfDir, DiskIo.PRODUCTION).size());
    assertTrue(Thread.interrupted(), "looking is not disturbed by an interrupt");
    SlotInfo failed = SlotDirectory.inspect(fix.sfDir, "l-2", DiskIo.PRODUCTION);
    assertTrue(failed.failed());
    assertFalse(failed.hasSegments());
  }

  @Test
  void aDiskThatReallyFillsUpStopsNothingButTheProducer() throws Exception {
    Path mount = fix.sfDir.resolve("mount");
    Files.createDirectory(mount);
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount.toString()) == 0,
        "may not mount");
    try {
      RingSettings s = new RingSettings(200_000, Durability.FLUSH, 1000, 0);
      SegmentBudget budget = new SegmentBudget(100 << 20);
      DiskIo unsuspecting =
          new FaultyDiskIo() {
            @Override
            public long usableBytes(Path directory) {
              return Long.MAX_VALUE; // so that only reserving blocks finds out
            }
          };
      try (Slot slot = Slot.open(mount, "s", s, budget.open(200_000), fix.keeper, unsuspecting)) {
        byte[] frame = new byte[60_000];
        SfException e =
            assertThrows(
                SfException.class,
                () -> {
                  while (true) {
                    slot.ring().append(frame, 0, frame.length, 500, () -> "");
                  }
                });
        assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, e.code());
        assertTrue(e.getMessage().contains("the disk is full"), e::getMessage);
        slot.ring().force();
        long published = slot.ring().publishedFsn();
        assertTrue(published > 5, "published " + published);
        for (long fsn = 0; fsn <= published; fsn++) {
          slot.ring().copyFrame(fsn, frame, 0);
        }
        slot.ring().acknowledge(published - 1);
        assertEquals(published + 1, slot.ring().append(frame, 0, frame.length, 30_000, () -> ""));
      }
    } finally {
      run("umount", mount.toString());
    }
  }

  private static int run(String... command) throws Exception {
    try {
      Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
      p.getInputStream().readAllBytes();
      return p.waitFor();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Truncates the segment under its map and goes on. */
  static final class Truncated {
    public static void main(String[] args) throws Exception {
      RingSettings s = new RingSettings(1 << 20, Durability.FLUSH, 1000, 0);
      Slot slot =
          Slot.open(
              Path.of(args[0]),
              "s",
              s,
              new SegmentBudget(8 << 20).open(1 << 20),
              SegmentKeeper.shared(),
              DiskIo.PRODUCTION);
      byte[] frame = new byte[9000];
      for (int i = 0; i < 20; i++) {
        slot.ring().append(frame, 0, frame.length, -1, () -> "");
      }
      slot.ring().force();
      try (FileChannel c =
          FileChannel.open(
              slot.directory().resolve(SegmentFormat.fileName(0)), StandardOpenOption.WRITE)) {
        c.truncate(8192);
      }
      int writes = 0;
      try {
        for (; writes < 100; writes++) {
          slot.ring().append(frame, 0, frame.length, -1, () -> "");
        }
        slot.ring().force();
        System.out.println("result: nothing noticed");
      } catch (SfException e) {
        System.out.println("writing: " + writes + " " + e.getMessage());
      }
      try {
        for (long fsn = 0; fsn <= slot.ring().publishedFsn(); fsn++) {
          slot.ring().frameLength(fsn);
          slot.ring().copyFrame(fsn, frame, 0);
        }
        System.out.println("result: lost frames were read");
      } catch (SfException e) {
        System.out.println("reading: " + e.getMessage());
      }
      try {
        slot.close();
      } catch (SfException e) {
        System.out.println("closing: " + e.getMessage());
      }
      System.out.println("result: alive");
    }
  }

  @Test
  void aSegmentTruncatedUnderItsMapEndsInOurErrorAndTheJvmLives() throws Exception {
    try (ChildJvm child = new ChildJvm(Truncated.class, null, fix.sfDir.toString())) {
      String writing = child.await("writing: ");
      assertTrue(writing.contains("DISK_FAILED") && writing.contains("faulted"), writing);
      assertTrue(
          Integer.parseInt(writing.split(" ")[1]) <= 8, "noticed within a fence: " + writing);
      String reading = child.await("reading: ");
      assertTrue(reading.contains("DISK_FAILED") && reading.contains("sf-0000"), reading);
      assertEquals("result: alive", child.await("result: "));
      assertTrue(child.process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, child.process.exitValue());
    }
  }

  /** A ring in memory, where there is no JNA. */
  static final class WithoutJna {
    public static void main(String[] args) throws Exception {
      RingSettings s = new RingSettings(4096, Durability.MEMORY, 1000, 0);
      SegmentBudget budget = new SegmentBudget(1 << 20);
      try (SegmentRing ring = SegmentRing.memory(s, budget.open(4096), SegmentKeeper.shared())) {
        for (int i = 0; i < 100; i++) {
          ring.append(new byte[1000], 0, 1000, -1, () -> "");
          ring.acknowledge(i);
        }
        ring.force();
      }
      SlotDirectory.list(Path.of(args[0]), DiskIo.PRODUCTION);
      try {
        Slot.open(
            Path.of(args[0]), "s", s, budget.open(4096), SegmentKeeper.shared(), DiskIo.PRODUCTION);
      } catch (SfException e) {
        System.out.println("slot: " + e.getMessage());
      }
    }
  }

  @Test
  void onlySlotsNeedJna() throws Exception {
    try (ChildJvm child = new ChildJvm(WithoutJna.class, "jna", fix.sfDir.toString())) {
      String slot = child.await("slot: ");
      assertTrue(slot.contains("SLOT_FILESYSTEM") && slot.contains("JNA"), slot);
    }
  }
}
