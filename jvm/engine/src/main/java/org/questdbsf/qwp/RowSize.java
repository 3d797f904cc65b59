package org.questdbsf.qwp;

/**
 * What one row of a block takes by itself, ended or at hand. Exact where {@link
 * TableBlock#rowBytes()} is quick: it walks over all columns. Producer's thread only.
 */
public final class RowSize {
  private final SymbolDictionary own = new SymbolDictionary();

  /**
   * Bytes of a message with nothing but one row, its columns and its symbols. Rows and columns that
   * come after it in its block do not make it larger: a column of geohashes, or one whose scale no
   * row has said yet, counts a byte or two that only they would need.
   */
  public long messageBytes(TableBlock block, int row) {
    own.rollbackTo(0);
    long bytes = Varint.size(block.tableUtf8().length) + block.tableUtf8().length;
    bytes += Varint.size(1);
    int written = 0;
    for (int i = 0; i < block.columnCount(); i++) {
      ColumnBuffer column = block.columnAt(i);
      if (!column.rows().omittedAlone(row)) {
        int name = column.nameUtf8().length;
        bytes += Varint.size(name) + name + 1 + column.rows().bytesAlone(row, own);
        written++;
      }
    }
    bytes += Varint.size(written);
    return bytes + MessageEncoder.overheadBytes(own, 0, own.size());
  }

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
