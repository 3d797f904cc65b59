package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

@Timeout(60)
class SlotTest {
  private final SlotFixture fix = new SlotFixture();

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  private static byte[] read(SegmentRing ring, long fsn) {
    byte[] frame = new byte[ring.frameLength(fsn)];
    ring.copyFrame(fsn, frame, 0);
    return frame;
  }

  @Test
  void unacknowledgedFramesAreThereAfterAReopen() throws Exception {
    Random random = new Random(11);
    List<byte[]> frames = new ArrayList<>();
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      assertTrue(slot.startedEmpty());
      for (int i = 0; i < 40; i++) {
        byte[] f = Frames.random(random, 1, 1000);
        frames.add(f);
        assertEquals(i, slot.ring().append(f, 0, f.length, -1, () -> ""));
      }
      slot.ring().force();
      assertEquals(-1, slot.ring().frameLength(40));
      slot.ring().acknowledge(6);
    }
    try (Slot slot = fix.open("s", 8192, Durability.FLUSH, DiskIo.PRODUCTION)) {
      assertFalse(slot.startedEmpty());
      assertEquals(39, slot.ring().publishedFsn());
      assertEquals(6, slot.ring().ackedFsn());
      for (int i = 7; i < 40; i++) {
        assertArrayEquals(frames.get(i), read(slot.ring(), i), "frame " + i);
      }
      byte[] large = Frames.random(random, 8192 - 32, 8192 - 32);
      assertEquals(40, slot.ring().append(large, 0, large.length, -1, () -> ""));
      assertArrayEquals(large, read(slot.ring(), 40));
      slot.ring().acknowledge(40);
    }
    assertEquals(Set.of(".lock", ".lock.pid"), fix.files("s"));
    assertEquals(0, fix.budget.usedBytes());
  }

  @Test
  void filesAreForTheOwnerOnlyAndTheTargetIsReadBack() throws Exception {
    Map<String, String> target = Map.of("target_id", "a=b", "ddl", "CREATE\nTABLE \\ x");
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      slot.writeTarget(target);
      slot.writeLastError("no route");
      byte[] f = {1, 2, 3};
      slot.ring().append(f, 0, 3, -1, () -> "");
      SlotInfo info = SlotDirectory.list(fix.sfDir, DiskIo.PRODUCTION).get(0);
      assertEquals(target, info.target());
      assertTrue(info.locked());
      assertEquals(ProcessHandle.current().pid(), info.holderPid().getAsLong());
      for (String name : fix.files("s")) {
        assertEquals(
            "rw-------",
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(fix.slot("s").resolve(name))),
            name);
      }
      assertEquals(
          "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(fix.slot("s"))));
    }
    assertFalse(SlotDirectory.list(fix.sfDir, DiskIo.PRODUCTION).get(0).locked());
    assertTrue(SlotDirectory.list(fix.sfDir, DiskIo.PRODUCTION).get(0).hasSegments());
  }

  @Test
  void theSecondOwnerIsToldWhoTheFirstIs() throws Exception {
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      SfException e = assertThrows(SfException.class, () -> fix.open("s", DiskIo.PRODUCTION));
      assertEquals(ErrorCode.SLOT_LOCKED, e.code());
      assertTrue(e.getMessage().contains("holder=" + ProcessHandle.current().pid()), e::getMessage);
      assertEquals("s-0", SlotDirectory.firstFreeName(fix.sfDir, "s", 0, DiskIo.PRODUCTION));
      byte[] f = {1};
      slot.ring().append(f, 0, 1, -1, () -> "");
      assertArrayEquals(f, Arrays.copyOf(read(slot.ring(), 0), 1));
    }
  }

  @Test
  void aFrameThatWasChangedOnDiskIsNeverHandedOut() throws Exception {
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      for (int i = 0; i < 3; i++) {
        byte[] f = new byte[100];
        slot.ring().append(f, 0, f.length, -1, () -> "");
      }
      int secondFrame = 24 + 108;
      DiskIo.PRODUCTION.write(
          slot.directory().resolve("sf-0000000000000000.sfa"), secondFrame + 50, new byte[] {1});
      assertEquals(100, read(slot.ring(), 0).length);
      SfException e = assertThrows(SfException.class, () -> read(slot.ring(), 1));
      assertEquals(ErrorCode.DISK_FAILED, e.code());
      for (String part : new String[] {"slot s", "sf-0000000000000000.sfa", "132", "frame 1"}) {
        assertTrue(e.getMessage().contains(part), e::getMessage);
      }
      assertEquals(100, read(slot.ring(), 2).length, "the others are still there");
      DiskIo.PRODUCTION.write(
          slot.directory().resolve("sf-0000000000000000.sfa"), secondFrame + 4, new byte[8]);
      e = assertThrows(SfException.class, () -> read(slot.ring(), 1));
      assertTrue(e.getMessage().contains("impossible length 0"), e::getMessage);
    }
  }

  @Test
  void aRefusedRingStillForcesTrimsAndCloses() throws Exception {
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      for (int i = 0; i < 3; i++) {
        byte[] f = new byte[3000];
        slot.ring().append(f, 0, f.length, -1, () -> "");
      }
      slot.ring().refuse(new SfException(ErrorCode.SERVER_REJECTED, "schema"));
      SfException e =
          assertThrows(
              SfException.class, () -> slot.ring().append(new byte[1], 0, 1, -1, () -> ""));
      assertEquals(ErrorCode.SERVER_REJECTED, e.code());
      slot.ring().acknowledge(1);
      while (fix.files("s").contains("sf-0000000000000001.sfa")) {
        Thread.sleep(2); // ended by the time-out of the test
      }
    }
    try (Slot slot = fix.open("s", DiskIo.PRODUCTION)) {
      assertEquals(1, slot.ring().ackedFsn());
      assertEquals(2, slot.ring().publishedFsn());
    }
  }
}
