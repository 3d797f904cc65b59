package org.questdbsf.sender;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;

/**
 * Has the tables of a plain sender checked: nothing was asked of them, but their rows must not be
 * changed by the table that they meet. What is known of a table are the columns of its rows, which
 * grow. Producer's thread only.
 */
final class PlainTables {
  private final TableCheck check;
  private final SlotNote note; // null in memory
  private final Map<String, Known> tables = new HashMap<>();

  /** The columns of all blocks of a table: two blocks may have the same one with two types. */
  private static final class Known {
    final Set<TableSpec.Column> columns = new LinkedHashSet<>();
    QwpType designated;
    TableSpec asked; // by whom the frames are that an earlier process left; null where nobody asked

    /** Nanoseconds before microseconds: what takes these takes both. */
    void designated(QwpType type) {
      designated = designated == QwpType.TIMESTAMP_NANOS ? designated : type;
    }
  }

  /**
   * @param note of the sender's slot: tables of frames that an earlier process left are checked too
   */
  PlainTables(TableCheck check, SlotNote note) {
    this.check = check;
    this.note = note;
    if (note != null) {
      note.tables().forEach(this::resume);
    }
  }

  private void resume(TableSpec spec) {
    Known known = known(spec.table());
    known.asked = spec;
    known.columns.addAll(spec.columns());
    if (spec.designatedType() != null) {
      known.designated(spec.designatedType());
    }
    check.require(spec);
  }

  private Known known(String table) {
    return tables.computeIfAbsent(Names.fold(table), name -> new Known());
  }

  /**
   * Asks for the check of a block's columns, before a frame that has new ones is published.
   *
   * @throws org.questdbsf.error.SfException DISK_FAILED where the slot cannot note it
   */
  void announce(TableBlock block) {
    Known known = known(block.table());
    boolean grown = false;
    for (ColumnBuffer column : block.columns()) {
      grown |= known.columns.add(TableTypes.plain(column));
    }
    QwpType before = known.designated;
    if (block.designatedType() != null) {
      known.designated(block.designatedType());
    }
    if (grown || before != known.designated || known.columns.isEmpty()) {
      require(block.table(), known);
    }
    block.noteColumns();
  }

  private void require(String table, Known known) {
    List<TableSpec.Column> columns = List.copyOf(known.columns);
    check.require(
        known.asked == null
            ? TableSpec.leftToServer(table, columns, known.designated)
            : known.asked.with(columns, known.designated));
    if (note != null) {
      note.require(check.required());
    }
  }
}
