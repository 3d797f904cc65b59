package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.MessageHeader;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.slot.SegmentRing;

/**
 * What the frames that were in a slot when it was opened ask of the send loop. Other clients write
 * groups of frames of which only the last commits (flag DEFER_COMMIT): the server acknowledges only
 * that one, and a group whose end was never written is an aborted transaction that must never be
 * sent. Immutable.
 */
final class ReplayPlan {
  /** Frames that stand or fall together; a frame by itself is a unit of one. */
  record Unit(long first, long last) {
    boolean contains(long fsn) {
      return fsn >= first && fsn <= last;
    }
  }

  private static final long NONE = Long.MAX_VALUE;

  private final TreeMap<Long, Long> groups;
  private final long tailFirst;
  private final long tailLast;
  private final long appendAfter;
  private final List<Long> dictionaryStarts;

  private ReplayPlan(
      TreeMap<Long, Long> groups,
      long tailFirst,
      long tailLast,
      long appendAfter,
      List<Long> dictionaryStarts) {
    this.groups = groups;
    this.tailFirst = tailFirst;
    this.tailLast = tailLast;
    this.appendAfter = appendAfter;
    this.dictionaryStarts = dictionaryStarts;
  }

  /** The plan of a ring that holds nothing. */
  static ReplayPlan ofEmpty() {
    return new ReplayPlan(new TreeMap<>(), NONE, NONE, -1, List.of());
  }

  /**
   * Reads all unacknowledged frames of a recovered ring, before its loop starts.
   *
   * @param dictionary filled with the symbols of the last frames, so that ids keep their meaning;
   *     null where nothing will be appended
   * @throws SfException SLOT_NEWER_FORMAT where frames lean on a dictionary that is not in them: no
   *     damage, so nobody may give the slot up for it
   */
  static ReplayPlan read(SegmentRing ring, String slot, SymbolDictionary dictionary)
      throws InterruptedException {
    RecoveredSymbols symbols = new RecoveredSymbols();
    TreeMap<Long, Long> groups = new TreeMap<>();
    List<Long> starts = new ArrayList<>();
    byte[] frame = new byte[0];
    long open = NONE;
    long last = ring.publishedFsn();
    for (long fsn = ring.ackedFsn() + 1; fsn <= last; fsn++) {
      if (Thread.interrupted()) { // there may be gigabytes
        throw new InterruptedException();
      }
      int length = ring.frameLength(fsn);
      frame = frame.length < length ? new byte[length + length / 2] : frame;
      ring.copyFrame(fsn, frame, 0);
      symbols.beginFrame();
      FrameLook look = FrameLook.at(frame, 0, length, symbols);
      if (look.deltaStart() > 0) {
        throw leansOnOthers(slot, fsn, look.deltaStart());
      }
      if (symbols.frameChangedMeaning() && open == NONE) { // a group stays on one connection
        starts.add(fsn);
      }
      boolean deferred =
          MessageHeader.isQwp(frame, 0, length) && MessageHeader.isDeferred(frame, 0);
      if (deferred && open == NONE) {
        open = fsn;
      } else if (!deferred && open != NONE) {
        groups.put(open, fsn);
        open = NONE;
      }
    }
    if (dictionary != null && !symbols.into(dictionary)) {
      starts.add(last + 1);
    }
    long tailLast = open == NONE ? NONE : last;
    return new ReplayPlan(groups, open, tailLast, open != NONE ? last : -1, starts);
  }

  private static SfException leansOnOthers(String slot, long fsn, int deltaStart) {
    return new SfException(
        ErrorCode.SLOT_NEWER_FORMAT,
        "slot '"
            + slot
            + "', frame "
            + fsn
            + " needs the symbols 0.."
            + (deltaStart - 1)
            + ", which are not in it; the slot was written in a newer format, drain it with the"
            + " client that wrote it");
  }

  /** Frames that give ids another meaning than those before them; in order. */
  List<Long> dictionaryStarts() {
    return dictionaryStarts;
  }

  /** The unit a frame belongs to. */
  Unit unitOf(long fsn) {
    Map.Entry<Long, Long> group = groups.floorEntry(fsn);
    return group == null || fsn > group.getValue()
        ? new Unit(fsn, fsn)
        : new Unit(group.getKey(), group.getValue());
  }

  /** How far an acknowledgement of a frame reaches: inside a group only to the frame before it. */
  long boundary(long fsn) {
    Map.Entry<Long, Long> group = groups.floorEntry(fsn);
    return group == null || fsn >= group.getValue() ? fsn : group.getKey() - 1;
  }

  /** Whether a frame belongs to the uncommitted tail: never to be sent. */
  boolean isRetired(long fsn) {
    return fsn >= tailFirst && fsn <= tailLast;
  }

  /** Last frame of the uncommitted tail; meaningful where {@link #isRetired} says so. */
  long tailLast() {
    return tailLast;
  }

  /**
   * The frame that must be acknowledged before anything is appended; −1 for none. Behind an
   * uncommitted tail a new frame would commit half a transaction after the next crash.
   */
  long appendAfter() {
    return appendAfter;
  }
}
