package org.questdbsf.slot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.questdbsf.slot.RecoveryReport.Missing;
import org.questdbsf.slot.SegmentScanner.Kind;
import org.questdbsf.slot.SegmentScanner.Scan;
import org.questdbsf.slot.SlotWitness.Testimony;

/**
 * Decides from the scans of a slot's files what may be done with it. Touches no file, so that every
 * rule can be tested by itself. When in doubt it refuses: a wrong refusal costs an operator's time,
 * a wrong opening costs rows. The Python package has the same rules in {@code _judge.py}.
 */
final class SlotJudge {
  /** A segment file and what its scan said. */
  record Found(String name, Scan scan) {
    long generation() {
      return SegmentFormat.generation(name);
    }
  }

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
   * @param forcedFsn up to here frames were forced to disk, as a witness says that fits them
   * @param missing frames that are given up with a word: nobody knows whether they arrived
   */
  record Decision(
      List<Found> keep,
      List<Found> drop,
      List<Found> empty,
      long publishedFsn,
      long ackedFsn,
      long forcedFsn,
      List<Missing> missing,
      List<String> notes) {

    long tornBytes() {
      return keep.stream().mapToLong(f -> f.scan().tornBytes()).sum();
    }
  }

  private final SlotClues clues;
  private final List<Found> framed = new ArrayList<>();
  private final List<Found> empty = new ArrayList<>();
  private final List<Found> keep = new ArrayList<>();
  private final List<Found> drop = new ArrayList<>();
  private final List<Missing> missing = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private SlotJudge(SlotClues clues) {
    this.clues = clues;
  }

  static Decision judge(List<Found> found, SlotClues clues) throws Refusal {
    return new SlotJudge(clues).judge(found);
  }

  private Decision judge(List<Found> found) throws Refusal {
    for (Found f : found) {
      if (f.scan().kind() == Kind.NEWER) {
        throw new Refusal(true, f.name() + " " + f.scan().problem());
      }
    }
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
      checkEnd(-1);
      return new Decision(framed, List.of(), empty, -1, -1, -1, missing, notes);
    }
    return judgeFrames();
  }

  private Decision judgeFrames() throws Refusal {
    long published = framed.get(framed.size() - 1).scan().lastFsn();
    final long acked = believedAck(published);
    for (int i = 0; i < framed.size() - 1; i++) {
      long end = lastHeld(framed.get(i).scan(), framed.get(i + 1).scan());
      (end > acked ? keep : drop).add(framed.get(i));
    }
    keep.add(framed.get(framed.size() - 1));
    checkOrder();
    long lowest = keep.get(0).scan().baseFsn();
    checkFront(lowest, published);
    checkContiguous();
    checkEnd(published);
    return new Decision(
        keep,
        drop,
        empty,
        published,
        Math.max(acked, lowest - 1),
        forced(published),
        missing,
        notes);
  }

  /** Highest FSN that a segment held: where its end is torn, up to the one behind it. */
  private static long lastHeld(Scan segment, Scan following) {
    return segment.tornBytes() > 0
        ? Math.max(segment.lastFsn(), following.baseFsn() - 1)
        : segment.lastFsn();
  }

  private long believedAck(long published) {
    if (headDisplaced(published)) {
      notes.add(
          "no segment begins with FSN "
              + clues.witness().get().marks().head()
              + ", as "
              + SlotWitness.FILE
              + " says, so FSNs are in doubt and all frames are sent again");
      return -1;
    }
    long acked = clues.acked();
    if (acked <= published) {
      return acked;
    }
    notes.add(
        "the watermark (FSN "
            + acked
            + ") is above the newest frame (FSN "
            + published
            + ") and was reset");
    return -1;
  }

  /**
   * Whether the oldest segment that is needed should lie among those that are there, and does not:
   * a base FSN is wrong, or another client emptied the slot and began anew.
   */
  private boolean headDisplaced(long published) {
    if (clues.witness().isEmpty()) {
      return false;
    }
    long head = clues.witness().get().marks().head();
    return framed.get(0).scan().baseFsn() < head
        && head <= published
        && framed.stream().noneMatch(f -> f.scan().baseFsn() == head);
  }

  private long forced(long published) {
    boolean fits =
        clues.witness().isPresent() && !clues.witnessIsStale() && !headDisplaced(published);
    return fits ? Math.min(clues.witness().get().marks().forced(), published) : -1;
  }

  /** Segments are made in the order of their frames, so a base FSN out of it is wrong. */
  private void checkOrder() throws Refusal {
    for (int i = 1; i < framed.size(); i++) {
      Found before = framed.get(i - 1);
      Found after = framed.get(i);
      if (before.generation() > after.generation()) {
        throw new Refusal(
            false,
            before.name()
                + " begins with FSN "
                + before.scan().baseFsn()
                + ", but "
                + after.name()
                + ", which is older, with FSN "
                + after.scan().baseFsn()
                + ": one of the two headers is wrong");
      }
    }
  }

  /**
   * Nothing may be missing before the first frame but what the watermark releases: that is forced
   * before a segment goes, so that a crash leaves none too low. A witness above it may speak of
   * other frames that had these FSNs before.
   */
  private void checkFront(long lowest, long published) throws Refusal {
    long released = clues.watermark().orElse(-1);
    if (lowest <= released + 1) {
      noteOtherClient(lowest);
      return;
    }
    if (witnessIsMet(lowest, published)) {
      lack(
          released + 1,
          lowest - 1,
          "are taken for acknowledged, as "
              + SlotWitness.FILE
              + " says; the watermark is "
              + clues.watermarkFault());
      return;
    }
    Found first = keep.get(0);
    String gap =
        "frames " + (released + 1) + " to " + (lowest - 1) + " are missing before " + first.name();
    if (clues.watermark().isPresent()) {
      throw new Refusal(false, gap + ": they are above the watermark");
    }
    if (clues.ours()) {
      throw new Refusal(false, gap + ", and no watermark says that they were acknowledged");
    }
    if (!clues.setAside().isEmpty()) {
      throw new Refusal(
          false, gap + "; they may be in " + clues.setAside().get(0) + ", which was set aside");
    }
    lack(
        0,
        lowest - 1,
        "are taken for acknowledged, as another client made the slot and wrote no watermark");
  }

  private void noteOtherClient(long lowest) {
    if (clues.witness().isEmpty()) {
      return;
    }
    Marks marks = clues.witness().get().marks();
    if (lowest > marks.head() && lowest - 1 > marks.acked()) {
      notes.add("another client acknowledged frames above FSN " + marks.acked());
    }
  }

  /** Whether all that the witness says is there: then the watermark beside it is what is wrong. */
  private boolean witnessIsMet(long lowest, long published) {
    if (clues.witness().isEmpty()) {
      return false;
    }
    Testimony witness = clues.witness().get();
    return lowest <= witness.marks().head()
        && witness.written() <= published
        && !headDisplaced(published);
  }

  private void checkContiguous() throws Refusal {
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

  /**
   * What was written must be there, or acknowledged: also where the end is torn, as only a host
   * that went down loses what was not forced.
   */
  private void checkEnd(long published) throws Refusal {
    if (clues.witness().isEmpty()) {
      return;
    }
    Testimony witness = clues.witness().get();
    long known = Math.max(published, clues.released());
    if (witness.written() <= known) {
      return;
    }
    if (clues.witnessIsStale()) {
      lack(
          known + 1,
          witness.written(),
          "are taken for acknowledged, as another client emptied the slot: its watermark is "
              + clues.watermarkFault());
      return;
    }
    if (witness.promised() > known) {
      throw new Refusal(
          false,
          "frames "
              + (known + 1)
              + " to "
              + witness.promised()
              + " are missing at the end: "
              + SlotWitness.FILE
              + " says they were "
              + (witness.sameBoot() ? "written, and the host is up since" : "forced to disk")
              + ". If another client emptied the slot and began anew, 'questdb-sf slots repair'"
              + " takes it as it is");
    }
    lack(known + 1, witness.written(), "were written, not forced to disk, and are lost");
  }

  private void lack(long from, long to, String why) {
    Missing these = new Missing(from, to, why);
    missing.add(these);
    notes.add(these.toString());
  }
}
