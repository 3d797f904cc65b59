package org.questdbsf.qwp;

/** Rows of one table being gathered. */
public final class TableBlock {
  public TableBlock(String table, SymbolDictionary dictionary, int maxNameBytes) {
    throw new UnsupportedOperationException("in preparation");
  }

  public String table() {
    throw new UnsupportedOperationException("in preparation");
  }

  public int rows() {
    throw new UnsupportedOperationException("in preparation");
  }

  public ColumnBuffer column(String name, QwpType type) {
    throw new UnsupportedOperationException("in preparation");
  }

  public ColumnBuffer designated(QwpType type) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void endRow() {
    throw new UnsupportedOperationException("in preparation");
  }

  public void cancelRow() {
    throw new UnsupportedOperationException("in preparation");
  }

  public long encodedBytes() {
    throw new UnsupportedOperationException("in preparation");
  }

  /**
   * Exact size of the table block of rows [from, to); walks the rows of nullable and symbol
   * columns.
   */
  public long encodedBytes(int fromRow, int toRow) {
    throw new UnsupportedOperationException("in preparation");
  }

  public int symbolLimit() {
    throw new UnsupportedOperationException("in preparation");
  }

  public int symbolLimit(int fromRow, int toRow) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void clear() {
    throw new UnsupportedOperationException("in preparation");
  }

  public void forgetColumns() {
    throw new UnsupportedOperationException("in preparation");
  }
}
