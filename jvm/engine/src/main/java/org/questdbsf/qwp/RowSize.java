package org.questdbsf.qwp;

/** What one row of a block takes by itself, ended or at hand. Off the hot path. */
public final class RowSize {
  private RowSize() {}

  /** The column with the most bytes in a row, and how many; for messages. */
  public static String largestValue(TableBlock block, int row) {
    ColumnBuffer largest = null;
    long most = -1;
    for (int i = 0; i < block.columnCount(); i++) {
      ColumnBuffer column = block.columnAt(i);
      long bytes = column.rows().valueBytes(row, block.dictionary());
      if (bytes > most) {
        most = bytes;
        largest = column;
      }
    }
    return largest == null ? "no column" : "column '" + largest.name() + "' with " + most;
  }
}
