package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

@Timeout(60)
class SlotRecoveryTest {
  private static final int SIZE = 4096;
  private final SlotFixture fix = new SlotFixture();
  private final Path s = fix.slot("s");

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  private Slot open() throws InterruptedException {
    return fix.open("s", DiskIo.PRODUCTION);
  }

  private static byte[][] frames(int from, int to) {
    return Arrays.copyOfRange(SlotFiles.frames(to), from, to);
  }

  private void segment(int generation, long base, byte[][] frames) throws Exception {
    SlotFiles.write(s, SegmentFormat.fileName(generation), SlotFiles.segment(SIZE, base, frames));
  }

  private static void assertFrames(Slot slot, int from, int to) {
    byte[][] expected = SlotFiles.frames(to);
    for (int i = from; i < to; i++) {
      byte[] dst = new byte[slot.ring().frameLength(i)];
      slot.ring().copyFrame(i, dst, 0);
      assertArrayEquals(expected[i], dst, "frame " + i);
    }
    assertEquals(-1, slot.ring().frameLength(to));
  }

  /** All files but the locks, with their bytes. */
  private Map<String, String> content() throws Exception {
    Map<String, String> content = new TreeMap<>();
    for (String name : fix.files("s")) {
      if (!name.startsWith(SlotLock.FILE)) {
        content.put(name, Arrays.toString(Files.readAllBytes(s.resolve(name))));
      }
    }
    return content;
  }

  private void assertRefused(ErrorCode code, String part) throws Exception {
    Map<String, String> before = content();
    SfException e = assertThrows(SfException.class, this::open);
    assertEquals(code, e.code(), e::getMessage);
    assertTrue(e.getMessage().contains(part), e::getMessage);
    assertEquals(before, content(), "a refusal changes nothing");
    assertEquals(0, fix.budget.usedBytes());
    assertFalse(SlotDirectory.inspect(fix.sfDir, "s", DiskIo.PRODUCTION).locked());
  }

  @Test
  void aTornTailIsKeptUpToTheLastGoodFrameAndWrittenOver() throws Exception {
    byte[] bytes = SlotFiles.segment(SIZE, 0, frames(0, 4));
    bytes[3000] = 1;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    try (Slot slot = open()) {
      assertEquals(RecoveryReport.Verdict.TORN, slot.report().verdict());
      assertTrue(slot.report().tornBytes() > 3000 - 300);
      assertFrames(slot, 0, 4);
      byte[] next = SlotFiles.frames(5)[4];
      assertEquals(4, slot.ring().append(next, 0, next.length, -1, () -> ""));
    }
    try (Slot slot = open()) {
      assertEquals(RecoveryReport.Verdict.CLEAN, slot.report().verdict());
      assertFrames(slot, 0, 5);
    }
  }

  @Test
  void aBadFrameWithAGoodOneBehindItIsRefused() throws Exception {
    byte[] bytes = SlotFiles.segment(SIZE, 0, frames(0, 4));
    bytes[24 + 8] ^= 1;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    assertRefused(ErrorCode.SLOT_REFUSED, "good one behind it");
  }

  @Test
  void aBadHeaderIsRefused() throws Exception {
    segment(0, 0, frames(0, 3));
    byte[] bytes = SlotFiles.segment(SIZE, 3, frames(3, 5));
    bytes[0] = 0;
    SlotFiles.write(s, SegmentFormat.fileName(1), bytes);
    assertRefused(ErrorCode.SLOT_REFUSED, SegmentFormat.fileName(1));
  }

  @Test
  void aGapIsRefused() throws Exception {
    segment(0, 0, frames(0, 3));
    segment(1, 4, frames(4, 5));
    assertRefused(ErrorCode.SLOT_REFUSED, "frames 3 to 3 are missing");
  }

  @Test
  void anOverlapIsRefused() throws Exception {
    segment(0, 0, frames(0, 3));
    segment(1, 2, frames(2, 5));
    assertRefused(ErrorCode.SLOT_REFUSED, "are there twice");
  }

  @Test
  void aSealedSegmentWithATornEndIsRefused() throws Exception {
    byte[] bytes = SlotFiles.segment(SIZE, 0, frames(0, 3));
    int lastFrame = 24 + 8 + frames(0, 3)[0].length + 8 + frames(0, 3)[1].length;
    bytes[lastFrame + 9] ^= 1;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    segment(1, 3, frames(3, 5));
    assertRefused(ErrorCode.SLOT_REFUSED, "damaged from offset " + lastFrame);
  }

  @Test
  void aNewerVersionIsNotDamage() throws Exception {
    byte[] bytes = SlotFiles.segment(SIZE, 0, frames(0, 3));
    bytes[4] = 2;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    assertRefused(ErrorCode.SLOT_NEWER_FORMAT, "version 2");
    bytes[4] = 1;
    bytes[5] = 1;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    assertRefused(ErrorCode.SLOT_NEWER_FORMAT, "flags 0x01");
    bytes[5] = 0;
    SlotFiles.write(s, SegmentFormat.fileName(0), bytes);
    SlotFiles.write(s, "sf-manifest.bin", new byte[8192]);
    assertRefused(ErrorCode.SLOT_NEWER_FORMAT, "sf-manifest.bin");
  }

  @Test
  void aSegmentThatCannotBeReadNowIsNoDamage() throws Exception {
    segment(0, 0, frames(0, 3));
    segment(1, 3, frames(3, 5));
    for (int n = 0; n < 2; n++) {
      FaultyDiskIo io = new FaultyDiskIo();
      io.failWhere("open " + SegmentFormat.fileName(n));
      Map<String, String> before = content();
      SfException e = assertThrows(SfException.class, () -> fix.open("s", io));
      assertEquals(ErrorCode.DISK_FAILED, e.code());
      assertTrue(e.getMessage().contains(SegmentFormat.fileName(n)), e::getMessage);
      assertEquals(before, content());
    }
  }

  @Test
  void aDirectoryThatCannotBeListedIsNotAnEmptySlot() throws Exception {
    segment(0, 0, frames(0, 3));
    FaultyDiskIo io = new FaultyDiskIo();
    io.failWhere("list s");
    SfException e = assertThrows(SfException.class, () -> fix.open("s", io));
    assertEquals(ErrorCode.DISK_FAILED, e.code());
    try (Slot slot = open()) {
      assertFrames(slot, 0, 3);
    }
  }

  @Test
  void sparesAreDeletedWhateverTheirBase() throws Exception {
    segment(0, 7, frames(7, 9));
    segment(1, 0, new byte[0][]);
    SlotFiles.write(s, SegmentFormat.fileName(2), new byte[SIZE]);
    SlotFiles.write(s, SegmentFormat.fileName(3), new byte[0]);
    segment(4, 9, new byte[0][]); // killed in a rotation, before the first frame
    try (Slot slot = open()) {
      assertEquals(7, slot.report().baseFsn());
      assertEquals(8, slot.ring().publishedFsn());
      assertEquals(6, slot.ring().ackedFsn());
      assertFrames(slot, 7, 9);
      byte[] f = SlotFiles.frames(10)[9];
      slot.ring().append(f, 0, f.length, -1, () -> "");
      assertFalse(fix.files("s").contains(SegmentFormat.fileName(1)));
    }
    try (Slot slot = open()) {
      assertFrames(slot, 7, 10);
    }
  }

  @Test
  void theWatermarkSkipsWhatWasAcknowledged() throws Exception {
    segment(0, 0, frames(0, 3));
    segment(1, 3, frames(3, 6));
    segment(2, 6, frames(6, 8));
    SlotFiles.write(s, AckWatermark.FILE, SlotFiles.watermark(4));
    try (Slot slot = open()) {
      assertEquals(4, slot.ring().ackedFsn());
      assertFrames(slot, 5, 8);
      assertFalse(fix.files("s").contains(SegmentFormat.fileName(0)), "wholly acknowledged");
      assertThrows(IllegalArgumentException.class, () -> slot.ring().frameLength(4));
    }
  }

  @Test
  void aWatermarkAboveTheFramesIsReset() throws Exception {
    segment(0, 0, frames(0, 3));
    SlotFiles.write(s, AckWatermark.FILE, SlotFiles.watermark(3));
    FaultyDiskIo io = new FaultyDiskIo();
    try (Slot slot = fix.open("s", io)) {
      assertEquals(-1, slot.ring().ackedFsn());
      assertFrames(slot, 0, 3);
      assertArrayEquals(SlotFiles.watermark(-1), Files.readAllBytes(s.resolve(AckWatermark.FILE)));
      assertTrue(io.log().contains("force " + AckWatermark.FILE), io.log()::toString);
    }
  }

  @Test
  void watermarksOfAnotherShapeAreReset() throws Exception {
    byte[][] wrong = {
      new byte[8192], new byte[16], new byte[0], SlotFiles.watermark(-2), new byte[100_000]
    };
    for (byte[] w : wrong) {
      Files.deleteIfExists(s.resolve(SlotWitness.FILE));
      segment(0, 0, frames(0, 3));
      SlotFiles.write(s, AckWatermark.FILE, w);
      try (Slot slot = open()) {
        assertEquals(-1, slot.ring().ackedFsn());
        slot.ring().acknowledge(1);
      }
      assertArrayEquals(SlotFiles.watermark(1), Files.readAllBytes(s.resolve(AckWatermark.FILE)));
    }
  }

  @Test
  void acknowledgedSegmentsMayBeMissingButNotTheOneBehindTheWatermark() throws Exception {
    segment(0, 0, frames(0, 3));
    segment(2, 6, frames(6, 8));
    SlotFiles.write(s, AckWatermark.FILE, SlotFiles.watermark(5));
    try (Slot slot = open()) {
      assertFrames(slot, 6, 8);
    }
    Files.delete(s.resolve(SlotWitness.FILE));
    segment(0, 0, frames(0, 3));
    SlotFiles.write(s, AckWatermark.FILE, SlotFiles.watermark(4));
    assertRefused(ErrorCode.SLOT_REFUSED, "frames 5 to 5 are missing");
  }

  @Test
  void aMissingHeadIsNoticedWhereAnotherClientSetItAside() throws Exception {
    segment(1, 3, frames(3, 5));
    SlotFiles.write(s, "sf-0000000000000000.sfa.corrupt", new byte[100]);
    assertRefused(ErrorCode.SLOT_REFUSED, "was set aside");
  }

  @Test
  void anEmptySlotForgetsItsWatermarkBeforeItsFirstFrame() throws Exception {
    SlotFiles.write(s, AckWatermark.FILE, SlotFiles.watermark(100));
    SlotFiles.write(s, ".symbol-dict", new byte[8]);
    SlotFiles.write(s, ".target", "a=b\n".getBytes("UTF-8"));
    SlotFiles.write(s, ".target.tmp", new byte[3]);
    SlotFiles.write(s, SegmentFormat.fileName(9), new byte[SIZE]);
    FaultyDiskIo io = new FaultyDiskIo();
    try (Slot slot = fix.open("s", io)) {
      assertTrue(slot.startedEmpty());
      byte[] f = {1};
      assertEquals(0, slot.ring().append(f, 0, 1, -1, () -> ""));
      assertEquals(-1, slot.ring().ackedFsn());
      Set<String> files = fix.files("s");
      assertTrue(files.contains(SegmentFormat.fileName(10)), "generations go on: " + files);
      files.removeIf(n -> n.endsWith(".sfa") || n.startsWith(".lock"));
      assertEquals(Set.of(AckWatermark.FILE, SlotWitness.FILE), files);
      assertArrayEquals(SlotFiles.watermark(-1), Files.readAllBytes(s.resolve(AckWatermark.FILE)));
      int forced = io.log().indexOf("force " + AckWatermark.FILE);
      int created = io.log().indexOf("create " + SegmentFormat.fileName(10));
      assertTrue(forced >= 0 && forced < created, io.log()::toString);
    }
  }

  @Test
  void everyTruncationOfTheNewestSegmentGivesAPrefix() throws Exception {
    byte[] bytes = SlotFiles.segment(400, 3, frames(3, 7));
    for (int size = 0; size < bytes.length; size += 3) {
      try (SlotFixture each = new SlotFixture()) {
        SlotFiles.write(
            each.slot("s"), SegmentFormat.fileName(0), SlotFiles.segment(SIZE, 0, frames(0, 3)));
        SlotFiles.write(each.slot("s"), SegmentFormat.fileName(1), Arrays.copyOf(bytes, size));
        if (size > 0 && size < 24) {
          SfException e = assertThrows(SfException.class, () -> each.open("s", DiskIo.PRODUCTION));
          assertEquals(ErrorCode.SLOT_REFUSED, e.code());
          continue;
        }
        try (Slot slot = each.open("s", DiskIo.PRODUCTION)) {
          int to = (int) slot.ring().publishedFsn() + 1;
          assertTrue(to >= 3 && to <= 7);
          assertFrames(slot, 0, to);
          byte[] next = SlotFiles.frames(to + 1)[to];
          assertEquals(to, slot.ring().append(next, 0, next.length, -1, () -> ""));
          assertFrames(slot, 0, to + 1);
        }
      }
    }
  }

  @Test
  void slotsThatOthersWroteInThisLayout() throws Exception {
    Map<String, long[]> expected =
        Map.of(
            "spec_plain", new long[] {0, 2, -1},
            "spec_two_segs", new long[] {0, 4, -1},
            "spec_initial", new long[] {0, 3, -1},
            "spec_redefine", new long[] {0, 2, -1},
            "spec_wm16", new long[] {0, 3, 1},
            "no_manifest_flags0", new long[] {0, 19, -1});
    for (var entry : expected.entrySet()) {
      String name = entry.getKey();
      SlotFiles.copy(resource(name), fix.slot(name));
      String expect = Files.readString(resource(name + ".expect.json"));
      try (Slot slot = fix.open(name, DiskIo.PRODUCTION)) {
        long[] e = entry.getValue();
        assertEquals(e[0], slot.report().baseFsn(), name);
        assertEquals(e[1], slot.ring().publishedFsn(), name);
        assertEquals(e[2], slot.ring().ackedFsn(), name);
        assertEquals(RecoveryReport.Verdict.CLEAN, slot.report().verdict(), name);
        for (long fsn = e[2] + 1; fsn <= e[1]; fsn++) {
          byte[] dst = new byte[slot.ring().frameLength(fsn)];
          slot.ring().copyFrame(fsn, dst, 0);
          String hex = java.util.HexFormat.of().formatHex(dst);
          assertTrue(expect.contains("\"" + hex + "\""), name + " frame " + fsn);
        }
      }
    }
    SlotFiles.copy(resource("spec_gap"), fix.slot("spec_gap"));
    SfException e = assertThrows(SfException.class, () -> fix.open("spec_gap", DiskIo.PRODUCTION));
    assertEquals(ErrorCode.SLOT_REFUSED, e.code());
  }

  private static Path resource(String name) throws Exception {
    return Path.of(SlotRecoveryTest.class.getResource("/slots/" + name).toURI());
  }
}
