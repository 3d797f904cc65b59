package org.questdbsf.slot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import org.questdbsf.slot.SegmentScanner.Kind;
import org.questdbsf.slot.SegmentScanner.Scan;

/**
 * Decides from the scans of a slot's files what may be done with it. Touches no file, so that every
 * rule can be tested by itself. When in doubt it refuses: a wrong refusal costs an operator's time,
 * a wrong opening costs rows.
 */
final class SlotJudge {
  private SlotJudge() {}

  /** A segment file and what its scan said. */
  record Found(String name, Scan scan) {}

  /** Why a slot may not be opened; nothing of it may be changed. */
  static final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;
    private final boolean newer;

    private Refusal(boolean newer, String reason) {
      super(reason, null, false, false);
      this.newer = newer;
    }

    /** Whether a newer program can read the slot: not damage. */
    boolean newer() {
      return newer;
    }
  }

  /**
   * What to do.
   *
   * @param keep segments that hold frames, by FSN; the last is appended to
   * @param drop segments that are wholly acknowledged, oldest first
   * @param empty files without a frame
   * @param watermarkUsable whether the watermark file holds an FSN that can be right
   */
  record Decision(
      List<Found> keep,
      List<Found> drop,
      List<Found> empty,
      boolean watermarkUsable,
      long publishedFsn,
      long ackedFsn,
      List<String> notes) {

    long tornBytes() {
      return keep.stream().mapToLong(f -> f.scan().tornBytes()).sum();
    }
  }

  /**
   * @param watermark FSN in the watermark file, empty when it holds none
   * @param evidence names of segments that another client set aside as damaged
   */
  static Decision judge(List<Found> found, OptionalLong watermark, List<String> evidence)
      throws Refusal {
    for (Found f : found) {
      if (f.scan().kind() == Kind.NEWER) {
        throw new Refusal(true, f.name() + " " + f.scan().problem());
      }
    }
    List<Found> framed = new ArrayList<>();
    List<Found> empty = new ArrayList<>();
    for (Found f : found) {
      switch (f.scan().kind()) {
        case FRAMES -> framed.add(f);
        case EMPTY -> empty.add(f);
        default -> throw new Refusal(false, f.name() + " " + f.scan().problem());
      }
    }
    framed.sort(
        Comparator.comparingLong((Found f) -> f.scan().baseFsn()).thenComparing(Found::name));
    if (framed.isEmpty()) {
      return new Decision(framed, List.of(), empty, false, -1, -1, new ArrayList<>());
    }
    return judgeFrames(framed, empty, watermark, evidence);
  }

  private static Decision judgeFrames(
      List<Found> framed, List<Found> empty, OptionalLong watermark, List<String> evidence)
      throws Refusal {
    final List<String> notes = new ArrayList<>();
    Scan newest = framed.get(framed.size() - 1).scan();
    long published = newest.lastFsn();
    boolean usable = watermark.isPresent() && watermark.getAsLong() <= published;
    if (watermark.isPresent() && !usable) {
      notes.add(
          "the watermark (FSN "
              + watermark.getAsLong()
              + ") is above the newest frame (FSN "
              + published
              + ") and was reset");
    }
    long acked = usable ? watermark.getAsLong() : -1;
    List<Found> keep = new ArrayList<>();
    List<Found> drop = new ArrayList<>();
    for (Found f : framed) {
      boolean last = f.scan() == newest;
      (last || f.scan().lastFsn() > acked ? keep : drop).add(f);
    }
    Found first = keep.get(0);
    long lowest = first.scan().baseFsn();
    if (lowest > acked + 1 && !drop.isEmpty()) {
      throw new Refusal(
          false,
          "frames "
              + (acked + 1)
              + " to "
              + (lowest - 1)
              + " are missing between the watermark and "
              + first.name());
    }
    if (lowest > acked + 1 && !evidence.isEmpty()) {
      throw new Refusal(
          false,
          "the first segment, "
              + first.name()
              + ", begins with FSN "
              + lowest
              + ", and the frames before it may be in "
              + evidence.get(0)
              + ", which was set aside");
    }
    if (lowest > acked + 1) {
      notes.add(
          "the first frame has FSN "
              + lowest
              + ", and no watermark says that those before it were acknowledged; a client that"
              + " writes none, or a host that went down with frames not forced, leaves this");
    }
    checkContiguous(keep);
    return new Decision(keep, drop, empty, usable, published, Math.max(acked, lowest - 1), notes);
  }

  private static void checkContiguous(List<Found> keep) throws Refusal {
    for (int i = 1; i < keep.size(); i++) {
      Found before = keep.get(i - 1);
      Found after = keep.get(i);
      long expected = before.scan().lastFsn() + 1;
      long base = after.scan().baseFsn();
      if (base != expected) {
        throw new Refusal(
            false,
            before.name()
                + " ends with FSN "
                + (expected - 1)
                + (before.scan().tornBytes() > 0
                    ? " and is damaged from offset " + before.scan().validEnd()
                    : "")
                + ", but "
                + after.name()
                + " begins with FSN "
                + base
                + (base > expected
                    ? ": frames " + expected + " to " + (base - 1) + " are missing"
                    : ": frames " + base + " to " + (expected - 1) + " are there twice"));
      }
    }
  }
}
