package org.questdbsf.spark;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;

/**
 * Which rows of which task went into which frames of a lane, so that an error about a frame can
 * name them. Written by the lane's borrower, read by whoever is told of an error. Thread-safe.
 */
final class FrameLog {
  /** Entries of acknowledged frames that stay: an error about them may still be on its way. */
  private static final int KEPT = 1024;

  /** Oldest entries go first; errors about them name no rows. */
  private static final int MAX_ENTRIES = 16 * KEPT;

  /**
   * Rows of a task.
   *
   * @param fromRow number of the first one in its task, from 1
   * @param toRow number of the last one
   */
  record Rows(TaskRef task, String table, long fromRow, long toRow) {}

  private record Entry(long firstFsn, long lastFsn, Rows rows) {}

  private final ArrayDeque<Entry> entries = new ArrayDeque<>();

  /**
   * Notes rows that are about to be published: an error may come before {@link #end}.
   *
   * @param firstFsn their first frame; FSNs grow
   * @param ackedFsn newest frame that is acknowledged
   */
  synchronized void begin(long firstFsn, Rows rows, long ackedFsn) {
    while (entries.size() >= KEPT
        && (entries.size() >= MAX_ENTRIES || entries.peekFirst().lastFsn() <= ackedFsn)) {
      entries.removeFirst();
    }
    entries.addLast(new Entry(firstFsn, Long.MAX_VALUE, rows));
  }

  /** Notes the last frame of the rows begun last; without a frame they are forgotten. */
  synchronized void end(long lastFsn) {
    Entry open = entries.removeLast();
    if (lastFsn >= open.firstFsn()) {
      entries.addLast(new Entry(open.firstFsn(), lastFsn, open.rows()));
    }
  }

  /** The rows that a frame holds, or the block of rows that it is a part of. */
  synchronized Optional<Rows> find(long fsn) {
    for (Iterator<Entry> newest = entries.descendingIterator(); newest.hasNext(); ) {
      Entry entry = newest.next();
      if (fsn >= entry.firstFsn()) {
        return fsn <= entry.lastFsn() ? Optional.of(entry.rows()) : Optional.empty();
      }
    }
    return Optional.empty();
  }
}
