package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which rows of a task went into which frames, so that an error about a frame can name them. */
final class PublishLog {
  /** Older entries are merged into one; errors about them name a wider range. */
  private static final int MAX_ENTRIES = 4096;

  /** Rows {@code fromRow} to {@code toRow} of the task, in frames up to {@code lastFsn}. */
  record Entry(long lastFsn, String table, long fromRow, long toRow) {}

  private final List<Entry> entries = new ArrayList<>();

  /** Notes a publication; FSNs grow. */
  void add(long lastFsn, String table, long fromRow, long toRow) {
    if (entries.size() >= MAX_ENTRIES) {
      Entry first = entries.get(0);
      Entry half = entries.get(MAX_ENTRIES / 2);
      entries.subList(0, MAX_ENTRIES / 2 + 1).clear();
      entries.add(0, new Entry(half.lastFsn(), half.table(), first.fromRow(), half.toRow()));
    }
    entries.add(new Entry(lastFsn, table, fromRow, toRow));
  }

  /** What a frame was published with; empty if it is not of this task. */
  Optional<Entry> find(long fsn, long firstFsn) {
    if (fsn < firstFsn) {
      return Optional.empty();
    }
    return entries.stream().filter(entry -> fsn <= entry.lastFsn()).findFirst();
  }
}
