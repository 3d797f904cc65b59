package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What a slot of ours knows of itself: nothing that it held goes missing without a word. */
@Timeout(120)
class SlotWitnessTest {
  private static final int FRAMES = 9;
  private static final int FRAME_BYTES = 1340; // three in a segment
  private final SlotFixture fix = SlotFixture.inMemory();

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  /** A slot with three frames in each of up to three segments. */
  private Path make(String name, int frames, long acked) throws Exception {
    try (Slot slot = fix.open(name, SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)) {
      for (int i = 0; i < frames; i++) {
        byte[] f = frame(i);
        slot.ring().append(f, 0, f.length, -1, () -> "");
      }
      slot.ring().force();
      if (acked >= 0) {
        slot.ring().acknowledge(acked);
      }
    }
    return fix.slot(name);
  }

  private static byte[] frame(int n) {
    byte[] frame = SlotFiles.frames(1)[0];
    byte[] bytes = java.util.Arrays.copyOf(frame, FRAME_BYTES);
    bytes[FRAME_BYTES - 1] = (byte) n;
    return bytes;
  }

  /** Every file under {@code sf_dir}, lock files included. */
  private Map<String, String> everything() throws Exception {
    Map<String, String> content = new TreeMap<>();
    try (var paths = Files.walk(fix.sfDir, new FileVisitOption[0])) {
      for (Path p : (Iterable<Path>) paths::iterator) {
        boolean file = Files.isRegularFile(p);
        content.put(
            fix.sfDir.relativize(p).toString(),
            file ? HexFormat.of().formatHex(Files.readAllBytes(p)) : "");
      }
    }
    return content;
  }

  private static List<Path> segments(Path slot) throws Exception {
    try (var files = Files.list(slot)) {
      return files.filter(p -> p.toString().endsWith(".sfa")).sorted().toList();
    }
  }

  private interface Loss {
    void apply(Path segment) throws Exception;
  }

  private static final List<Loss> LOSSES =
      List.of(
          Files::delete,
          p -> Files.write(p, new byte[0]),
          p -> Files.write(p, new byte[SlotFixture.SEGMENT]),
          p -> Files.write(p, java.util.Arrays.copyOf(Files.readAllBytes(p), 24)));

  @Test
  void aSegmentThatIsGoneIsRefusedWhicheverItIs() throws Exception {
    int n = 0;
    for (int frames : new int[] {2, FRAMES}) {
      for (long acked : new long[] {-1, 0}) {
        for (Loss loss : LOSSES) {
          for (int i = 0; i < segments(make("count" + n, frames, acked)).size(); i++) {
            String name = "s" + n++;
            Path slot = make(name, frames, acked);
            loss.apply(segments(slot).get(i));
            Map<String, String> before = everything();
            SfException e =
                assertThrows(
                    SfException.class,
                    () ->
                        fix.open(name, SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)
                            .close());
            assertEquals(ErrorCode.SLOT_REFUSED, e.code());
            assertTrue(e.getMessage().contains("missing"), e::getMessage);
            assertEquals(before, everything(), "refused means not a byte changed");
          }
        }
      }
    }
  }

  @Test
  void noFlippedBitOfWatermarkWitnessOrBaseLosesAFrame() throws Exception {
    for (int frames : new int[] {3, FRAMES}) {
      for (long acked : new long[] {-1, 0, frames - 2}) {
        Path whole = make("whole-" + frames + "-" + acked, frames, acked);
        for (Path file : segments(whole)) {
          flipEach(whole, file.getFileName().toString(), 8, 16, acked, frames);
        }
        if (acked >= 0) {
          flipEach(whole, AckWatermark.FILE, 0, AckWatermark.BYTES, acked, frames);
        }
        flipEach(whole, SlotWitness.FILE, 0, SlotWitness.BYTES, acked, frames);
      }
    }
  }

  private void flipEach(Path whole, String file, int from, int to, long acked, int frames)
      throws Exception {
    for (int bit = from * 8; bit < to * 8; bit++) {
      String name = whole.getFileName() + "-" + file + "-" + bit;
      SlotFiles.copy(whole, fix.slot(name));
      byte[] bytes = Files.readAllBytes(whole.resolve(file));
      bytes[bit / 8] ^= 1 << bit % 8;
      Files.write(fix.slot(name).resolve(file), bytes);
      try (Slot slot = fix.open(name, SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)) {
        List<byte[]> sent = unacknowledged(slot);
        assertTrue(sent.size() >= frames - 1 - acked, name);
        for (int i = 1; i <= frames - 1 - acked; i++) {
          assertArrayEquals(frame(frames - i), sent.get(sent.size() - i), name);
        }
      } catch (SfException e) {
        assertEquals(ErrorCode.SLOT_REFUSED, e.code(), name);
      }
    }
  }

  private static List<byte[]> unacknowledged(Slot slot) {
    List<byte[]> frames = new ArrayList<>();
    SegmentRing ring = slot.ring();
    for (long fsn = ring.ackedFsn() + 1; fsn <= ring.publishedFsn(); fsn++) {
      byte[] dst = new byte[ring.frameLength(fsn)];
      ring.copyFrame(fsn, dst, 0);
      frames.add(dst);
    }
    return frames;
  }

  /** The process may be killed at any time: what it wrote is there as long as the host is up. */
  @Test
  void whatATornEndLacksIsDamageUnlessTheHostWentDown() throws Exception {
    Path forced = make("forced", FRAMES, -1);
    damageLastFrame(forced);
    Path slot = make("s", FRAMES, -1);
    damageLastFrame(slot);
    new SlotWitness(slot, DiskIo.PRODUCTION).write(new Marks(-1, 0, FRAMES - 1, 2), true);
    Map<String, String> before = everything();
    for (String name : List.of("s", "forced")) {
      for (DiskIo boot : List.of(DiskIo.PRODUCTION, FaultyDiskIo.afterReboot())) {
        if (name.equals("s") && boot != DiskIo.PRODUCTION) {
          continue;
        }
        SfException e = assertThrows(SfException.class, () -> fix.open(name, boot).close());
        assertEquals(ErrorCode.SLOT_REFUSED, e.code());
        assertTrue(e.getMessage().contains("frames 8 to 8 are missing"), e::getMessage);
        assertEquals(before, everything(), "refused means not a byte changed");
      }
    }
    try (Slot open = fix.open("s", FaultyDiskIo.afterReboot())) {
      assertEquals(RecoveryReport.Verdict.TORN, open.report().verdict());
      assertEquals(FRAMES - 2, open.report().publishedFsn());
      assertEquals(8, open.report().missing().get(0).fromFsn());
      String notes = open.report().notes().toString();
      assertTrue(notes.contains("frames 8 to 8 were written, not forced to disk"), notes);
    }
    try (Slot again = fix.open("s", FaultyDiskIo.afterReboot())) {
      assertEquals(RecoveryReport.Verdict.CLEAN, again.report().verdict());
      assertEquals(List.of(), again.report().missing());
    }
  }

  private static void damageLastFrame(Path slot) throws Exception {
    List<Path> segments = segments(slot);
    Path last = segments.get(segments.size() - 1);
    byte[] bytes = Files.readAllBytes(last);
    bytes[24 + 2 * (8 + FRAME_BYTES) + 20] ^= 1;
    Files.write(last, bytes);
  }

  /** Another client sends all and deletes what it knows; {@code .witness} stays. */
  @Test
  void aSlotThatAnotherClientEmptiedOpens() throws Exception {
    for (long acked : new long[] {-1, 4}) {
      Path slot = make("s" + acked, FRAMES, acked);
      deleteSegments(slot);
      Path halfDone = fix.slot("half" + acked); // killed before it deleted the watermark
      SlotFiles.copy(slot, halfDone);
      SlotFiles.write(halfDone, AckWatermark.FILE, SlotFiles.watermark(FRAMES - 1));
      Path damaged = fix.slot("damaged" + acked);
      SlotFiles.copy(slot, damaged);
      Files.delete(slot.resolve(AckWatermark.FILE));
      try (Slot open = fix.open("s" + acked, DiskIo.PRODUCTION)) {
        assertTrue(open.startedEmpty());
        RecoveryReport.Missing missing = open.report().missing().get(0);
        assertEquals(acked + 1, missing.fromFsn());
        assertEquals(FRAMES - 1, missing.toFsn());
        assertTrue(
            missing.why().contains("another client emptied the slot: its watermark is missing"),
            missing::why);
      }
      try (Slot open = fix.open("half" + acked, DiskIo.PRODUCTION)) {
        assertEquals(List.of(), open.report().missing());
      }
      SfException e =
          assertThrows(
              SfException.class, () -> fix.open("damaged" + acked, DiskIo.PRODUCTION).close());
      assertTrue(e.getMessage().contains("slots repair"), e::getMessage);
    }
  }

  private static void deleteSegments(Path slot) throws Exception {
    for (Path segment : segments(slot)) {
      Files.delete(segment);
    }
  }

  /** The FSNs of the witness are those of other frames: none of the new ones goes by them. */
  @Test
  void aSlotThatAnotherClientBeganAnewIsSentWhole() throws Exception {
    byte[][] anew = new byte[FRAMES + 3][];
    for (int i = 0; i < anew.length; i++) {
      anew[i] = frame(100 + i);
    }
    int n = 0;
    for (long acked : new long[] {-1, 1, 4, FRAMES - 1}) {
      for (int head : new int[] {0, 3, 5}) {
        for (int count : new int[] {1, 4, FRAMES + 3}) {
          for (long watermark : new long[] {-2, -1, 0, 3}) {
            String name = "s" + n++;
            Path slot = fix.slot(name);
            byte[] segment = SlotFiles.segment(1 << 15, 0, java.util.Arrays.copyOf(anew, count));
            SlotFiles.write(slot, SegmentFormat.fileName(0), segment);
            if (watermark > -2) {
              SlotFiles.write(slot, AckWatermark.FILE, SlotFiles.watermark(watermark));
            }
            new SlotWitness(slot, DiskIo.PRODUCTION)
                .write(new Marks(acked, head, FRAMES - 1, FRAMES - 1), true);
            checkBegunAnew(name, Math.min(watermark, count - 1), count, watermark < acked);
          }
        }
      }
    }
  }

  private void checkBegunAnew(String name, long acked, int count, boolean seen) throws Exception {
    try (Slot open = fix.open(name, 1 << 15, Durability.FLUSH, DiskIo.PRODUCTION)) {
      List<byte[]> sent = unacknowledged(open);
      assertTrue(sent.size() >= count - 1 - Math.max(acked, -1), name);
      for (int i = 1; i <= sent.size(); i++) {
        assertArrayEquals(frame(100 + count - i), sent.get(sent.size() - i), name);
      }
    } catch (SfException e) {
      assertTrue(!seen && count < FRAMES, name + " " + e.getMessage());
      assertTrue(e.getMessage().contains("another client emptied the slot"), e::getMessage);
    }
  }

  @Test
  void theLowerOfTheTwoWitnessesIsBelieved() throws Exception {
    Path slot = make("s", 2, 0);
    Files.write(slot.resolve(AckWatermark.FILE), SlotFiles.watermark(1));
    try (Slot open = fix.open("s", SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)) {
      assertEquals(0, open.ring().ackedFsn());
      assertArrayEquals(
          SlotFiles.watermark(0), Files.readAllBytes(slot.resolve(AckWatermark.FILE)));
    }
    Files.delete(slot.resolve(AckWatermark.FILE));
    try (Slot open = fix.open("s", SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)) {
      assertEquals(-1, open.ring().ackedFsn());
    }
    new SlotWitness(slot, DiskIo.PRODUCTION).write(new Marks(0, 0, 1, 1), true);
    try (Slot open = fix.open("s", SlotFixture.SEGMENT, Durability.FLUSH, DiskIo.PRODUCTION)) {
      assertEquals(-1, open.ring().ackedFsn());
    }
  }

  /** Its owner ended between a rotation and the next look at how far the ring is. */
  @Test
  void anAcknowledgedHeadMayGoWithoutAWord() throws Exception {
    Path slot = fix.slot("s");
    SlotFiles.write(slot, SegmentFormat.fileName(0), SlotFiles.segment(4096, 0, frame(0)));
    SlotFiles.write(slot, SegmentFormat.fileName(1), SlotFiles.segment(4096, 1, frame(1)));
    SlotFiles.write(slot, AckWatermark.FILE, SlotFiles.watermark(0));
    new SlotWitness(slot, DiskIo.PRODUCTION).write(new Marks(0, 0, 0, 0), true);
    try (Slot open = fix.open("s", DiskIo.PRODUCTION)) {
      assertEquals(0, open.ring().ackedFsn());
      assertArrayEquals(frame(1), unacknowledged(open).get(0));
    }
  }

  @Test
  void aKilledOwnerLeavesAWitnessOfWhatItWrote() throws Exception {
    Slot slot = fix.open("s", 4096, Durability.MEMORY, DiskIo.PRODUCTION);
    for (int i = 0; i < 3; i++) {
      byte[] f = frame(i);
      slot.ring().append(f, 0, f.length, -1, () -> "");
    }
    while (SlotWitness.read(fix.slot("s"), DiskIo.PRODUCTION).get().promised() < 2) {
      Thread.sleep(5); // ended by the time-out of the test
    }
    SlotFiles.copy(fix.slot("s"), fix.slot("killed"));
    slot.close();
    Files.write(segments(fix.slot("killed")).get(0), new byte[4096]);
    SfException e =
        assertThrows(SfException.class, () -> fix.open("killed", DiskIo.PRODUCTION).close());
    assertTrue(e.getMessage().contains("frames 0 to 2 are missing"), e::getMessage);
    // After a power cut only what was forced is promised, and nothing was.
    try (Slot open = fix.open("killed", 4096, Durability.MEMORY, FaultyDiskIo.afterReboot())) {
      assertTrue(open.startedEmpty());
      assertEquals(2, open.report().missing().get(0).toFsn());
    }
  }

  @Test
  void slotsOfOthersMayLackTheirFrontOnlyWhereNothingSpeaksAgainstIt() throws Exception {
    byte[][] frames = {frame(3), frame(4)};
    Path foreign = fix.slot("foreign");
    SlotFiles.write(
        foreign, SegmentFormat.fileName(1), SlotFiles.segment(SlotFixture.SEGMENT, 3, frames));
    Path watermarked = fix.slot("watermarked");
    SlotFiles.copy(foreign, watermarked);
    SlotFiles.write(watermarked, AckWatermark.FILE, SlotFiles.watermark(1));
    Path older = fix.slot("older"); // an earlier version of ours, which wrote no witness
    SlotFiles.copy(foreign, older);
    SlotFiles.write(older, SideFile.TARGET, "format=1\n".getBytes("UTF-8"));
    for (String name : List.of("watermarked", "older")) {
      SfException e =
          assertThrows(SfException.class, () -> fix.open(name, DiskIo.PRODUCTION).close());
      assertEquals(ErrorCode.SLOT_REFUSED, e.code(), name);
    }
    try (Slot slot = fix.open("foreign", DiskIo.PRODUCTION)) {
      assertEquals(2, slot.report().missing().get(0).toFsn());
    }
    Files.write(segments(foreign).get(0), SlotFiles.segment(SlotFixture.SEGMENT, 4, frame(4)));
    assertThrows(SfException.class, () -> fix.open("foreign", DiskIo.PRODUCTION).close());
  }

  @Test
  void aSlotThatIsOnlyLookedAtIsAsItWas() throws Exception {
    Path slot = fix.slot("s");
    byte[] torn = SlotFiles.segment(SlotFixture.SEGMENT, 0, frame(0), frame(1));
    torn[4000] = 1;
    SlotFiles.write(slot, SegmentFormat.fileName(0), torn);
    SlotFiles.write(slot, SegmentFormat.fileName(1), new byte[SlotFixture.SEGMENT]);
    SlotFiles.write(slot, AckWatermark.FILE, SlotFiles.watermark(7));
    Map<String, String> before = everything();
    Slot looked =
        Slot.openToLook(
            fix.sfDir,
            "s",
            SlotFixture.settings(SlotFixture.SEGMENT, Durability.FLUSH),
            fix.budget.open(SlotFixture.SEGMENT),
            fix.keeper,
            DiskIo.PRODUCTION);
    assertEquals(2, unacknowledged(looked).size());
    looked.close();
    assertEquals(before, everything());
    assertEquals(0, fix.budget.usedBytes());
  }
}
