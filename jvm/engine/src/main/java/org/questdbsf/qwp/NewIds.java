package org.questdbsf.qwp;

import java.util.List;

/** Takes symbols over from one dictionary to another, where they get other ids. */
final class NewIds {
  private final SymbolDictionary from;
  private final SymbolDictionary to;
  private int[] known = {}; // new id and one by old id; 0 where it has none yet

  NewIds(SymbolDictionary from, SymbolDictionary to) {
    this.from = from;
    this.to = to;
  }

  /**
   * Gives the symbols of the rows from one on, the row at hand included, their new ids, row by row.
   */
  void give(List<ColumnBuffer> columns, int fromRow, int rows) {
    List<ColumnRows> symbols =
        columns.stream().map(ColumnBuffer::rows).filter(ColumnRows::symbols).toList();
    symbols.forEach(ColumnRows::forgetIds);
    for (int row = fromRow; row <= rows; row++) {
      for (int i = 0; i < symbols.size(); i++) {
        symbols.get(i).renumber(row, this);
      }
    }
  }

  int of(int id) {
    if (known.length == 0) {
      known = new int[from.size()]; // not for a block without rows
    }
    if (known[id] == 0) {
      known[id] = to.idOf(from, id) + 1;
    }
    return known[id] - 1;
  }
}
