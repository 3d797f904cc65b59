package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * A witness that says more was acknowledged than the watermark does: another client began the slot
 * anew, the watermark is damaged, or a power cut kept the older one.
 */
@Timeout(60)
class WitnessAboveWatermarkTest {
  private static final long NONE = -2;
  private final SlotFixture fix = SlotFixture.inMemory();

  @AfterEach
  void cleanUp() {
    fix.close();
  }

  /** A slot with one segment of three frames. */
  private Path make(String name, long base, long watermark, Marks witness) throws Exception {
    Path slot = fix.slot(name);
    byte[] segment = SlotFiles.segment(SlotFixture.SEGMENT, base, SlotFiles.frames(3));
    SlotFiles.write(slot, SegmentFormat.fileName(1), segment);
    if (watermark != NONE) {
      SlotFiles.write(slot, AckWatermark.FILE, SlotFiles.watermark(watermark));
    }
    new SlotWitness(slot, DiskIo.PRODUCTION).write(witness, true);
    return slot;
  }

  private String refusal(String name, DiskIo io) {
    SfException e = assertThrows(SfException.class, () -> fix.open(name, io).close());
    assertEquals(ErrorCode.SLOT_REFUSED, e.code());
    return e.getMessage();
  }

  /** An old witness must not release frames that another client wrote under the same FSNs. */
  @Test
  void aStaleWitnessHidesNoMissingFront() throws Exception {
    List<Marks> old =
        List.of(
            new Marks(500, 400, 500, 500), // none of its segments is there
            new Marks(21, 21, 30, 30), // its end is not there
            new Marks(22, 20, 23, 23), // its oldest segment is not there
            new Marks(22, 22, 23, 23)); // no segment begins where its oldest does
    int n = 0;
    for (Marks witness : old) {
      for (long watermark : new long[] {NONE, 5}) {
        String name = "s" + n++;
        make(name, 21, watermark, witness);
        for (DiskIo boot : List.of(DiskIo.PRODUCTION, FaultyDiskIo.afterReboot())) {
          String why = refusal(name, boot);
          String gap = "frames " + Math.max(0, watermark + 1) + " to 20 are missing";
          assertTrue(why.contains(gap), why);
        }
      }
    }
  }

  /** What is there is all that the witness speaks of, so only the watermark is wrong. */
  @Test
  void aFrontThatOnlyTheWitnessReleasesIsNamed() throws Exception {
    for (long watermark : new long[] {NONE, 3}) {
      String name = "s" + watermark;
      make(name, 6, watermark, new Marks(7, 6, 8, 8));
      try (Slot open = fix.open(name, DiskIo.PRODUCTION)) {
        assertEquals(5, open.ring().ackedFsn(), "all that is there is sent");
        assertEquals(8, open.ring().publishedFsn());
        RecoveryReport.Missing missing = open.report().missing().get(0);
        assertEquals(Math.max(0, watermark + 1), missing.fromFsn());
        assertEquals(5, missing.toFsn());
        assertTrue(missing.why().contains("as .witness says"), missing::why);
      }
      try (Slot again = fix.open(name, DiskIo.PRODUCTION)) {
        assertEquals(List.of(), again.report().missing());
      }
    }
  }

  /** Neither file is forced when it is written, so the newer witness may survive alone. */
  @Test
  void aWatermarkThatAPowerCutLeftBehindSoftensNoPromise() throws Exception {
    final Path forced = make("forced", 0, 0, new Marks(1, 0, 8, 8));
    final Path unforced = make("unforced", 0, 0, new Marks(1, 0, 8, 2));
    DiskIo rebooted = FaultyDiskIo.afterReboot();
    String why = refusal("forced", rebooted);
    assertTrue(why.contains("frames 3 to 8 are missing"), why);
    assertTrue(why.contains("forced to disk"), why);
    assertTrue(why.contains("slots repair"), why);
    try (Slot open = fix.open("unforced", rebooted)) {
      String notes = open.report().notes().toString();
      assertTrue(notes.contains("frames 3 to 8 were written, not forced to disk"), notes);
      assertEquals(2, SlotWitness.read(unforced, rebooted).get().marks().forced());
    }
    Files.delete(forced.resolve(SegmentFormat.fileName(1))); // another client sends what is there
    Files.delete(forced.resolve(AckWatermark.FILE));
    try (Slot open = fix.open("forced", rebooted)) {
      String notes = open.report().notes().toString();
      assertTrue(notes.contains("another client emptied the slot"), notes);
    }
  }
}
