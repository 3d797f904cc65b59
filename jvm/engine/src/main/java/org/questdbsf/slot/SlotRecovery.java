package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.SlotJudge.Decision;
import org.questdbsf.slot.SlotJudge.Found;
import org.questdbsf.slot.SlotWitness.Testimony;

/**
 * From a locked slot directory to segments that can be sent and appended to (store-and-forward
 * specification, sections 6.5 and 17), in numbered passes. Passes 1 to 5 only look; a refusal comes
 * from them and leaves every byte as it was. {@link #settle} changes the slot, once whoever looked
 * into its frames wants it. It never logs and carries on: what it found is in its report, what it
 * could not do is an exception.
 */
final class SlotRecovery {
  private static final String MANIFEST = "sf-manifest.bin";
  private static final String DICTIONARY = ".symbol-dict";
  private static final String CORRUPT = SegmentFormat.SUFFIX + ".corrupt";
  private static final int ZEROS = 1 << 16;

  private final Path directory;
  private final String slot;
  private final DiskIo io;
  private List<String> names;
  private SlotClues clues;
  private Decision decision;
  private AckWatermark watermark;
  private SlotWitness witness;
  private Marks settled;

  private SlotRecovery(Path directory, String slot, DiskIo io) {
    this.directory = directory;
    this.slot = slot;
    this.io = io;
  }

  /**
   * Looks at a slot whose lock is held, and changes nothing.
   *
   * @param abandoned whether nobody waits for it any more: asked before each segment
   * @throws SfException SLOT_REFUSED, SLOT_NEWER_FORMAT
   * @throws IOException when anything could not be read: no verdict; trying again does no harm
   */
  static SlotRecovery look(Path directory, String slot, DiskIo io, BooleanSupplier abandoned)
      throws IOException {
    SlotRecovery recovery = new SlotRecovery(directory, slot, io);
    recovery.list();
    recovery.readClues();
    recovery.judge(recovery.scan(abandoned));
    return recovery;
  }

  /** Pass 1: names. A manifest says that a newer program owns the slot. */
  private void list() throws IOException {
    names = new ArrayList<>(io.list(directory));
    names.sort(null);
    if (names.contains(MANIFEST)) {
      throw newer("it has " + MANIFEST);
    }
  }

  /** Pass 2: what is beside the segments. */
  private void readClues() throws IOException {
    OptionalLong acked =
        names.contains(AckWatermark.FILE) ? AckWatermark.read(directory, io) : OptionalLong.empty();
    Optional<Testimony> testimony =
        names.contains(SlotWitness.FILE) ? SlotWitness.read(directory, io) : Optional.empty();
    boolean ours = names.contains(SideFile.TARGET) || names.contains(SlotWitness.FILE);
    List<String> setAside = names.stream().filter(n -> n.endsWith(CORRUPT)).toList();
    clues = new SlotClues(acked, testimony, ours, setAside);
  }

  /** Pass 3: the frames of every segment file. */
  private List<Found> scan(BooleanSupplier abandoned) throws IOException {
    List<Found> found = new ArrayList<>();
    for (String name : names) {
      if (name.endsWith(SegmentFormat.SUFFIX)) {
        if (abandoned.getAsBoolean()) {
          throw new IOException("who wanted slot " + slot + " gave up before it was read");
        }
        found.add(new Found(name, SegmentScanner.scan(directory.resolve(name), io)));
      }
    }
    return found;
  }

  /** Pass 4: the verdict. */
  private void judge(List<Found> found) {
    try {
      decision = SlotJudge.judge(found, clues);
    } catch (SlotJudge.Refusal e) {
      throw e.newer() ? newer(e.getMessage()) : refused(e.getMessage(), e);
    }
    Decision d = decision;
    if (d.tornBytes() > 0) {
      d.notes().add(d.tornBytes() + " torn bytes behind FSN " + d.publishedFsn() + " are dropped");
    }
    if (!d.drop().isEmpty()) {
      d.notes().add(d.drop().size() + " acknowledged segments are dropped");
    }
    if (clues.watermark().isEmpty() && names.contains(AckWatermark.FILE)) {
      d.notes().add("the watermark file held no FSN and was reset");
    }
    watermark = new AckWatermark(directory, io, clues.watermark().isPresent());
    witness = new SlotWitness(directory, io);
  }

  /** Pass 5: maps of the segments to keep, linked, by FSN. */
  List<SegmentFile> map() throws IOException {
    List<SegmentFile> segments = new ArrayList<>();
    try {
      for (Found f : decision.keep()) {
        SegmentFile segment =
            SegmentFile.map(
                directory.resolve(f.name()), (int) f.scan().fileBytes(), f.scan().baseFsn(), io);
        if (!segments.isEmpty()) {
          segments.get(segments.size() - 1).link(segment);
        }
        segments.add(segment);
      }
    } catch (IOException | RuntimeException | Error e) {
      segments.forEach(SegmentFile::unmap);
      throw e;
    }
    return segments;
  }

  /**
   * Makes the slot ready for use; may be called again after it failed.
   *
   * @return where the last segment is appended to; its size when it takes no more
   */
  int settle() throws IOException {
    writeMarks();
    clearAway();
    return mendTail();
  }

  /**
   * Pass 6: how far the slot is. The watermark comes first, and is there from before the first
   * frame on: see {@link SlotClues#witnessIsStale}. Both are forced before anything that they
   * release goes.
   */
  private void writeMarks() throws IOException {
    if (decision.keep().isEmpty()) {
      settled = Marks.EMPTY;
    } else {
      long lowest = decision.keep().get(0).scan().baseFsn();
      settled =
          new Marks(decision.ackedFsn(), lowest, decision.publishedFsn(), decision.forcedFsn());
    }
    watermark.write(settled.acked(), true);
    witness.write(settled, true);
  }

  /** What earlier owners of the slot forced of what is there. */
  long forced() {
    return decision.forcedFsn();
  }

  /** Pass 7: what must not survive. */
  private void clearAway() throws IOException {
    boolean empty = decision.keep().isEmpty();
    List<String> goners = new ArrayList<>();
    decision.drop().forEach(f -> goners.add(f.name()));
    decision.empty().forEach(f -> goners.add(f.name()));
    for (String name : names) {
      boolean stale =
          empty
              && (name.equals(DICTIONARY)
                  || name.equals(SideFile.TARGET)
                  || name.equals(SideFile.LAST_ERROR));
      if (stale || SideFile.isTemporary(name)) {
        goners.add(name);
      }
    }
    for (String name : goners) {
      io.delete(directory.resolve(name));
    }
    if (!goners.isEmpty()) {
      io.forceDirectory(directory);
    }
  }

  /**
   * Pass 8: the segment to append to gets zeros behind its last frame, so that no scan ever takes
   * old bytes for a frame, and blocks for all of it. Without room for those it is only read.
   */
  private int mendTail() throws IOException {
    if (decision.keep().isEmpty()) {
      return 0;
    }
    Found last = decision.keep().get(decision.keep().size() - 1);
    Path file = directory.resolve(last.name());
    long end = last.scan().fileBytes();
    if (last.scan().tornBytes() > 0) {
      for (long at = last.scan().validEnd(); at < end; at += ZEROS) {
        io.write(file, at, new byte[(int) Math.min(ZEROS, end - at)]);
      }
      io.force(file);
    }
    try {
      io.reserve(file, end);
      return (int) last.scan().validEnd();
    } catch (DiskFullException e) {
      return (int) end; // the next frame goes to a new segment, which waits for room
    }
  }

  AckWatermark watermark() {
    return watermark;
  }

  SlotWitness witness() {
    return witness;
  }

  /** What the slot's files say since {@link #settle}. */
  Marks marks() {
    return settled;
  }

  /** Above all that exist. */
  long nextGeneration() {
    return names.stream().mapToLong(SegmentFormat::generation).max().orElse(-1) + 1;
  }

  RecoveryReport report() {
    List<RecoveryReport.SegmentReport> segments =
        decision.keep().stream()
            .map(
                f ->
                    new RecoveryReport.SegmentReport(
                        f.name(),
                        f.scan().baseFsn(),
                        f.scan().frames(),
                        f.scan().validEnd(),
                        f.scan().tornBytes()))
            .toList();
    long frames = segments.stream().mapToLong(RecoveryReport.SegmentReport::frames).sum();
    return new RecoveryReport(
        slot,
        decision.tornBytes() > 0 ? RecoveryReport.Verdict.TORN : RecoveryReport.Verdict.CLEAN,
        frames == 0 ? -1 : segments.get(0).baseFsn(),
        decision.publishedFsn(),
        decision.ackedFsn(),
        frames,
        decision.tornBytes(),
        decision.missing(),
        segments,
        List.copyOf(decision.notes()));
  }

  private SfException newer(String reason) {
    return new SfException(
        ErrorCode.SLOT_NEWER_FORMAT,
        "slot '"
            + slot
            + "' at "
            + directory
            + " was written in a newer format: "
            + reason
            + ". Nothing was changed. Drain it with the program that wrote it, or use another"
            + " sender_id");
  }

  private SfException refused(String reason, Exception cause) {
    return new SfException(
        ErrorCode.SLOT_REFUSED,
        "slot '"
            + slot
            + "' at "
            + directory
            + " is damaged: "
            + reason
            + ". Nothing was changed. 'questdb-sf slots show' says more, 'questdb-sf slots extract'"
            + " saves the readable rows, then 'questdb-sf slots repair' says what it would keep and"
            + " what it would give up, or 'questdb-sf slots quarantine' sets the slot aside",
        cause);
  }

  /** Files of a drained slot, besides segments, in the order in which they go. */
  static List<String> leftovers() {
    return List.of(
        AckWatermark.FILE, DICTIONARY, SideFile.TARGET, SideFile.LAST_ERROR, SlotWitness.FILE);
  }
}
