package org.questdbsf.slot;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.SlotJudge.Decision;
import org.questdbsf.slot.SlotJudge.Found;

/**
 * From a locked slot directory to segments that can be sent and appended to (store-and-forward
 * specification, sections 6.5 and 17), in numbered passes. Passes 1 to 4 only look; a refusal comes
 * from them and leaves every byte as it was. It never logs and carries on: what it found is in its
 * report, what it could not do is an exception.
 */
final class SlotRecovery {
  private static final String MANIFEST = "sf-manifest.bin";
  private static final String DICTIONARY = ".symbol-dict";
  private static final String CORRUPT = SegmentFormat.SUFFIX + ".corrupt";
  private static final int ZEROS = 1 << 16;

  /**
   * A slot ready for use.
   *
   * @param segments linked, by FSN; empty for a slot without frames
   * @param position where the last segment is appended to; its capacity when it takes no more
   */
  record Recovered(
      List<SegmentFile> segments,
      int position,
      AckWatermark watermark,
      long nextGeneration,
      RecoveryReport report) {}

  private final Path directory;
  private final String slot;
  private final DiskIo io;
  private List<String> names;
  private OptionalLong watermark = OptionalLong.empty();

  private SlotRecovery(Path directory, String slot, DiskIo io) {
    this.directory = directory;
    this.slot = slot;
    this.io = io;
  }

  /**
   * Recovers a slot whose lock is held.
   *
   * @throws SfException SLOT_REFUSED, SLOT_NEWER_FORMAT: nothing was changed
   * @throws IOException when the disk failed: no verdict; trying again does no harm
   */
  static Recovered recover(Path directory, String slot, DiskIo io) throws IOException {
    return new SlotRecovery(directory, slot, io).recover();
  }

  private Recovered recover() throws IOException {
    list();
    List<Found> found = scan();
    readWatermark();
    Decision decision = judge(found);
    clearAway(decision);
    int position = mendTail(decision);
    return new Recovered(
        map(decision),
        position,
        new AckWatermark(directory, io, decision.watermarkUsable()),
        nextGeneration(),
        report(decision));
  }

  /** Pass 1: names. A manifest says that a newer program owns the slot. */
  private void list() throws IOException {
    names = new ArrayList<>(io.list(directory));
    names.sort(null);
    if (names.contains(MANIFEST)) {
      throw newer("it has " + MANIFEST);
    }
  }

  /** Pass 2: the frames of every segment file. */
  private List<Found> scan() throws IOException {
    List<Found> found = new ArrayList<>();
    for (String name : names) {
      if (name.endsWith(SegmentFormat.SUFFIX)) {
        try {
          found.add(new Found(name, SegmentScanner.scan(directory.resolve(name), io)));
        } catch (IOException e) {
          if (e instanceof ClosedByInterruptException || isOutOfDescriptors(e)) {
            throw e; // says nothing about the file
          }
          throw refused(name + " cannot be read (" + e + ")", e);
        }
      }
    }
    return found;
  }

  private static boolean isOutOfDescriptors(IOException e) {
    return (e instanceof FileSystemException || e instanceof FileNotFoundException)
        && String.valueOf(e.getMessage()).contains("Too many open files");
  }

  /** Pass 3: the watermark. */
  private void readWatermark() throws IOException {
    if (names.contains(AckWatermark.FILE)) {
      watermark = AckWatermark.read(directory, io);
    }
  }

  /** Pass 4: the verdict. */
  private Decision judge(List<Found> found) {
    try {
      List<String> evidence = names.stream().filter(n -> n.endsWith(CORRUPT)).toList();
      return SlotJudge.judge(found, watermark, evidence);
    } catch (SlotJudge.Refusal e) {
      throw e.newer() ? newer(e.getMessage()) : refused(e.getMessage(), e);
    }
  }

  /**
   * Pass 5: what must not survive. A watermark that cannot be right would acknowledge frames to
   * come, so its end is forced first; what the right one releases goes after it was forced.
   */
  private void clearAway(Decision decision) throws IOException {
    boolean empty = decision.keep().isEmpty();
    if (!decision.watermarkUsable() && names.contains(AckWatermark.FILE)) {
      io.delete(directory.resolve(AckWatermark.FILE));
      io.forceDirectory(directory);
      if (watermark.isEmpty()) {
        decision.notes().add("the watermark file held no FSN and was reset");
      }
    }
    List<String> goners = new ArrayList<>();
    if (!decision.drop().isEmpty()) {
      io.force(directory.resolve(AckWatermark.FILE));
      io.forceDirectory(directory);
      decision.drop().forEach(f -> goners.add(f.name()));
      decision.notes().add(decision.drop().size() + " acknowledged segments were deleted");
    }
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
   * Pass 6: the segment to append to gets zeros behind its last frame, so that no scan ever takes
   * old bytes for a frame, and blocks for all of it. Without room for those it is only read.
   */
  private int mendTail(Decision decision) throws IOException {
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
      decision
          .notes()
          .add(
              last.scan().tornBytes()
                  + " torn bytes at the end of "
                  + last.name()
                  + " were zeroed");
    }
    try {
      io.reserve(file, end);
      return (int) last.scan().validEnd();
    } catch (DiskFullException e) {
      decision.notes().add("no room to go on in " + last.name() + " (" + e.getMessage() + ")");
      return (int) end;
    }
  }

  /** Pass 7: maps. */
  private List<SegmentFile> map(Decision decision) throws IOException {
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

  private long nextGeneration() {
    return names.stream().mapToLong(SegmentFormat::generation).max().orElse(-1) + 1;
  }

  private RecoveryReport report(Decision d) {
    List<RecoveryReport.SegmentReport> segments =
        d.keep().stream()
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
        d.tornBytes() > 0 ? RecoveryReport.Verdict.TORN : RecoveryReport.Verdict.CLEAN,
        frames == 0 ? -1 : segments.get(0).baseFsn(),
        d.publishedFsn(),
        d.ackedFsn(),
        frames,
        d.tornBytes(),
        segments,
        List.copyOf(d.notes()));
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
            + " saves the readable rows, then 'questdb-sf slots repair' keeps the frames before the"
            + " damage, or 'questdb-sf slots quarantine' sets the slot aside",
        cause);
  }

  /** Files of a drained slot, besides segments, in the order in which they go. */
  static List<String> leftovers() {
    return List.of(AckWatermark.FILE, DICTIONARY, SideFile.TARGET, SideFile.LAST_ERROR);
  }
}
