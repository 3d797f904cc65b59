package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Only regular files of this user are opened, and what is something else delays nobody. */
@Timeout(60)
class SpecialFilesTest {
  private final SlotFixture fix = new SlotFixture();
  private final Path slot = fix.slot("s");

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  private static void fifo(Path path) throws Exception {
    Files.createDirectories(path.getParent());
    assertEquals(0, new ProcessBuilder("mkfifo", path.toString()).start().waitFor());
  }

  private void assertNotOpened(String part) {
    SfException e = assertThrows(SfException.class, () -> fix.open("s", DiskIo.PRODUCTION).close());
    assertEquals(ErrorCode.DISK_FAILED, e.code(), e::getMessage);
    assertTrue(e.getMessage().contains(part), e::getMessage);
  }

  @Test
  void aFifoHangsNobody() throws Exception {
    for (String name :
        List.of(
            SegmentFormat.fileName(1), AckWatermark.FILE, SlotWitness.FILE, ".lock", ".lock.pid")) {
      SlotFiles.write(slot, SegmentFormat.fileName(0), SlotFiles.segment(4096, 0));
      fifo(slot.resolve(name));
      assertNotOpened("is a FIFO");
      Files.delete(slot.resolve(name));
    }
    fifo(fix.sfDir.resolve(".slot-locks/s.lock"));
    assertNotOpened("is a FIFO");
  }

  @Test
  void noLinkIsFollowed() throws Exception {
    Path foreign = Files.writeString(fix.sfDir.resolve("foreign"), "not ours");
    for (String name : List.of(SegmentFormat.fileName(0), SlotWitness.FILE, ".lock", ".lock.pid")) {
      Files.createDirectories(slot);
      Files.createSymbolicLink(slot.resolve(name), foreign);
      assertNotOpened("is a symbolic link");
      assertEquals("not ours", Files.readString(foreign), name);
      Files.delete(slot.resolve(name));
    }
    Files.createDirectories(fix.sfDir.resolve("elsewhere"));
    Files.delete(slot);
    Files.createSymbolicLink(slot, fix.sfDir.resolve("elsewhere"));
    assertNotOpened("is not a directory");
  }

  @Test
  void filesOfOtherUsersAreNotOpened() throws Exception {
    SlotFiles.write(slot, SegmentFormat.fileName(0), SlotFiles.segment(4096, 0));
    try {
      Files.setAttribute(slot.resolve(SegmentFormat.fileName(0)), "unix:uid", 12_345);
    } catch (IOException e) {
      Assumptions.abort("only root gives files away");
    }
    assertNotOpened("belongs to user id 12345");
  }

  @Test
  void oneEntryThatCannotBeReadHidesNoOther() throws Exception {
    SlotFiles.write(fix.slot("good"), SegmentFormat.fileName(0), SlotFiles.segment(4096, 0));
    SlotFiles.write(fix.slot("large"), SideFile.TARGET, new byte[(1 << 20) + 1]);
    fifo(fix.slot("odd").resolve(SideFile.TARGET));
    Files.createDirectories(fix.slot("closed"));
    FaultyDiskIo io = new FaultyDiskIo();
    io.failWhere("list closed");
    List<SlotInfo> found = SlotDirectory.list(fix.sfDir, io);
    assertEquals(
        List.of("closed", "good", "large", "odd"), found.stream().map(SlotInfo::name).toList());
    assertEquals(
        List.of(false, true, false, false),
        found.stream().map(slot -> slot.problem().isEmpty()).toList());
    io.failWhere("list l-0");
    Files.createDirectories(fix.slot("l-0"));
    assertEquals("l-1", SlotDirectory.firstFreeName(fix.sfDir, "l", 0, io));
  }
}
