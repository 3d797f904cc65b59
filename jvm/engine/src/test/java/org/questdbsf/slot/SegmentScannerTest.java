package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.slot.SegmentScanner.Kind;
import org.questdbsf.slot.SegmentScanner.Scan;

@Timeout(60)
class SegmentScannerTest {
  @TempDir Path dir;

  private Scan scan(byte[] bytes) throws Exception {
    Path file = dir.resolve("sf-0000000000000000.sfa");
    Files.write(file, bytes);
    return SegmentScanner.scan(file, DiskIo.PRODUCTION);
  }

  @Test
  void theWrittenOutExample() throws Exception {
    byte[] bytes =
        HexFormat.of()
            .parseHex(
                "53463031010000000700000000000000"
                    + "40420f0000000000"
                    + "59725a88020000006869"
                    + "0b5427fa03000000515750"
                    + "00".repeat(11));
    assertEquals(
        HexFormat.of().formatHex(bytes),
        HexFormat.of()
            .formatHex(SlotFiles.segment(56, 7, "hi".getBytes("UTF-8"), "QWP".getBytes("UTF-8"))));
    Scan s = scan(bytes);
    assertEquals(new Scan(Kind.FRAMES, 56, 7, 2, 45, 0, null), s);
    assertEquals(
        HexFormat.of().formatHex(bytes, 0, 24),
        HexFormat.of().formatHex(SegmentFormat.header(7, 1_000_000)));
  }

  @Test
  void segmentsThatTheJavaClientWrote() throws Exception {
    String interop = System.getenv("QUESTDB_SF_INTEROP");
    Assumptions.assumeTrue(interop != null, "QUESTDB_SF_INTEROP names no directory");
    Path golden = Path.of(interop, "golden");
    Scan whole = scan(hex(golden.resolve("java-two-frame.sfa.hex")));
    assertEquals(new Scan(Kind.FRAMES, 64, 42, 2, 50, 0, null), whole);
    Scan torn = scan(hex(golden.resolve("java-two-frame-torn-tail.sfa.hex")));
    assertEquals(new Scan(Kind.FRAMES, 64, 42, 1, 35, 29, null), torn);
  }

  private static byte[] hex(Path file) throws Exception {
    return HexFormat.of().parseHex(Files.readString(file).replaceAll("\\s", ""));
  }

  @Test
  void aZeroFileIsASpareAndAHeaderWithoutFramesToo() throws Exception {
    for (int size : new int[] {0, 1, 23, 24, 4096}) {
      assertEquals(Kind.EMPTY, scan(new byte[size]).kind(), "size " + size);
    }
    assertEquals(Kind.EMPTY, scan(SlotFiles.segment(4096, 0)).kind());
  }

  @Test
  void headers() throws Exception {
    byte[][] frames = SlotFiles.frames(2);
    byte[] good = SlotFiles.segment(200, 5, frames);
    assertEquals(Kind.DAMAGED, scan(with(good, 0, 0)).kind(), "magic");
    assertEquals(Kind.NEWER, scan(with(good, 4, 2)).kind(), "version 2");
    assertEquals(Kind.DAMAGED, scan(with(good, 4, 0)).kind(), "version 0");
    assertEquals(Kind.NEWER, scan(with(good, 5, 1)).kind(), "flag 0");
    assertEquals(Kind.NEWER, scan(with(good, 5, 2)).kind(), "flag 1");
    assertEquals(Kind.DAMAGED, scan(with(good, 6, 1)).kind(), "reserved");
    assertEquals(Kind.DAMAGED, scan(with(good, 15, 0x80)).kind(), "negative base");
    assertEquals(Kind.DAMAGED, scan(Arrays.copyOf(good, 10)).kind(), "short");
  }

  private static byte[] with(byte[] bytes, int at, int value) {
    byte[] copy = bytes.clone();
    copy[at] = (byte) value;
    return copy;
  }

  @Test
  void tails() throws Exception {
    byte[][] frames = SlotFiles.frames(3);
    byte[] good = SlotFiles.segment(300, 0, frames);
    int end = (int) scan(good).validEnd();
    Scan torn = scan(with(good, 299, 7));
    assertEquals(Kind.FRAMES, torn.kind(), "a byte far behind the frames is torn, too");
    assertEquals(300 - end, torn.tornBytes());
    int second = 24 + 8 + frames[0].length;
    byte[] zeroed = good.clone();
    Arrays.fill(zeroed, second, second + 8, (byte) 0);
    Scan hole = scan(zeroed);
    assertEquals(Kind.DAMAGED, hole.kind(), "a zeroed header hides a good frame");
    assertTrue(hole.problem().contains("offset " + second), hole::problem);
    byte[] negative = SlotFiles.segment(300, 0, frames[0]);
    Arrays.fill(negative, second, second + 8, (byte) 0xff);
    assertEquals(Kind.FRAMES, scan(negative).kind());
    assertEquals(1, scan(negative).frames());
    byte[] huge = SlotFiles.segment(300, 0, frames[0]);
    huge[second + 7] = 0x7f;
    assertEquals(1, scan(huge).frames(), "a length of 2 GiB in a file of 300 bytes");
  }

  @Test
  void everyTruncationKeepsAPrefix() throws Exception {
    byte[][] frames = SlotFiles.frames(5);
    byte[] good = SlotFiles.segment(400, 3, frames);
    for (int size = 24; size < good.length; size++) {
      Scan s = scan(Arrays.copyOf(good, size));
      if (size == 24) {
        assertEquals(Kind.EMPTY, s.kind());
        continue;
      }
      int whole = 0;
      int at = 24;
      while (whole < frames.length && at + 8 + frames[whole].length <= size) {
        at += 8 + frames[whole++].length;
      }
      assertEquals(Kind.FRAMES, s.kind(), "size " + size);
      assertEquals(whole, s.frames(), "size " + size);
      assertEquals(at, s.validEnd(), "size " + size);
    }
  }

  @Test
  void everyFlippedBitKeepsAPrefixOrIsRefused() throws Exception {
    byte[][] frames = SlotFiles.frames(4);
    byte[] good = SlotFiles.segment(260, 3, frames);
    int[] starts = new int[5];
    starts[0] = 24;
    for (int i = 0; i < 4; i++) {
      starts[i + 1] = starts[i] + 8 + frames[i].length;
    }
    for (int at = 0; at < good.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        Scan s = scan(with(good, at, good[at] ^ 1 << bit));
        String where = "byte " + at + " bit " + bit + ": " + s;
        if (at >= 16 && at < 24) {
          assertEquals(4, s.frames(), where); // the time is for people
        } else if ((at >= 8 && at < 15) || (at == 15 && bit < 6)) {
          assertEquals(Kind.FRAMES, s.kind(), where); // another base: found by contiguity
        } else if (at < 24) {
          assertTrue(s.kind() == Kind.DAMAGED || s.kind() == Kind.NEWER, where);
          assertNotNull(s.problem());
        } else if (at >= starts[3] && at < starts[4]) {
          assertEquals(Kind.FRAMES, s.kind(), where);
          assertEquals(3, s.frames(), where);
          assertEquals(260 - starts[3], s.tornBytes(), where);
        } else if (at >= starts[4]) {
          assertEquals(4, s.frames(), where);
          assertEquals(260 - starts[4], s.tornBytes(), where);
        } else {
          assertEquals(Kind.DAMAGED, s.kind(), where);
        }
      }
    }
  }

  @Test
  void framesLargerThanTheWindow() throws Exception {
    Random random = new Random(3);
    byte[] a = Frames.random(random, 700_000, 700_000);
    byte[] b = Frames.random(random, 300_000, 300_000);
    byte[] bytes = SlotFiles.segment(1 << 20, 0, a, b);
    assertEquals(2, scan(bytes).frames());
    bytes[24 + 8 + 650_000] ^= 1;
    assertEquals(Kind.DAMAGED, scan(bytes).kind());
  }

  @Test
  void aGoodFrameIsFoundWhereverItLiesBehindABadOne() throws Exception {
    Random random = new Random(7);
    byte[] good = SlotFiles.segment(24 + 8 + 40, 0, Frames.random(random, 40, 40));
    for (int n = 0; n < 200; n++) {
      int at = 24 + 8 + (n < 100 ? n : (1 << 18) - 150 + n); // also across the edge of a window
      byte[] bytes = SlotFiles.segment(1 << 19, 0);
      bytes[24] = 1;
      System.arraycopy(good, 24, bytes, at, 48);
      Scan s = scan(bytes);
      assertEquals(Kind.DAMAGED, s.kind(), "at " + at);
      assertTrue(s.problem().endsWith("at offset " + at), s::problem);
      bytes[at + 20] ^= 1;
      assertEquals(Kind.FRAMES, scan(bytes).kind(), "at " + at);
    }
  }

  @Test
  void theSearchEndsWhereEverythingLooksLikeAFrame() throws Exception {
    byte[] bytes = SlotFiles.segment(16 << 20, 0);
    for (int at = 24; at + 12 < bytes.length; at += 12) {
      bytes[at + 6] = 0x40; // a length of four mebibytes
      System.arraycopy(new byte[] {'Q', 'W', 'P', '1'}, 0, bytes, at + 8, 4);
    }
    assertEquals(Kind.DAMAGED, scan(bytes).kind(), "a doubt refuses");
  }

  @Test
  void aHoleOfTerabytesIsNotRead() throws Exception {
    Path file = dir.resolve("sf-0000000000000000.sfa");
    try (RandomAccessFile hole = new RandomAccessFile(file.toFile(), "rw")) {
      hole.setLength(4L << 40);
    }
    Scan s = SegmentScanner.scan(file, DiskIo.PRODUCTION);
    assertEquals(Kind.DAMAGED, s.kind());
    assertTrue(s.problem().contains("larger than a segment can be"), s::problem);
  }
}
