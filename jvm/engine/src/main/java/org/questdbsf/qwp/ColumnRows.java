package org.questdbsf.qwp;

import org.questdbsf.error.ErrorCode;

/**
 * Which rows of a column hold a value: the slots filled so far, and the nulls among them. Rows that
 * end without a value cost nothing then; they are filled in with nulls when the column is next
 * written or encoded.
 */
final class ColumnRows {
  private static final int FORGOTTEN = Integer.MAX_VALUE;

  private final TableBlock block;
  private final ColumnStore store;
  private final ColumnPlace place;
  private final NullMap nulls = new NullMap();
  private int filled;
  private int born; // rows before it do not have the column

  ColumnRows(TableBlock block, ColumnStore store, ColumnPlace place) {
    this.block = block;
    this.store = store;
    this.place = place;
    this.born = block.rows();
  }

  ColumnStore store() {
    return store;
  }

  /** Whether the current row has no value yet. Rows that were passed over become null first. */
  boolean open() {
    int row = block.rows();
    if (filled == row) {
      return true;
    }
    if (filled > row) {
      checkAttached();
      return false;
    }
    fillNulls(row);
    return true;
  }

  /** The slot of the current row. */
  int slot() {
    return filled;
  }

  /** The slot of the current row was filled. */
  void next() {
    filled++;
  }

  void nextNull() {
    fillNulls(filled + 1);
  }

  private void fillNulls(int to) {
    store.skip(filled, to);
    if (store.hasNull()) {
      nulls.set(filled, to);
    }
    filled = to;
  }

  private void checkAttached() {
    if (filled == FORGOTTEN) {
      throw new IllegalStateException(
          place + ": the block has forgotten this column; ask it for the column again");
    }
  }

  /** The slot where many rows begin; they are not there until {@link #took}. */
  int openMany() {
    if (!open()) {
      throw place.error(ErrorCode.NAME_INVALID, "was given twice; names differ by more than case");
    }
    return filled;
  }

  /**
   * The slots of these rows were filled; those without a value become null where that is marked.
   */
  void took(SourceRows source) {
    if (store.hasNull() && source.hasNulls()) {
      nulls.set(source, filled);
    }
    filled += source.rows();
  }

  /** Forgets the value of the current row. */
  void cancel() {
    if (filled > block.rows()) {
      filled--;
      if (nulls.isNull(filled)) {
        nulls.unset(filled);
      } else {
        store.drop(filled);
      }
    }
  }

  void clear() {
    filled = 0;
    born = 0;
    place.atSourceRow(-1);
    nulls.clear();
    store.clear();
  }

  void forget() {
    filled = FORGOTTEN;
  }

  /**
   * Whether the column can be left out for the rows [from, to): nothing in it can be written, or
   * all of them were there before the column. Those shall not grow by what comes after them.
   */
  boolean omitted(int from, int to) {
    settle();
    return to <= born || !store.writable(to - from - nullsIn(from, to));
  }

  /**
   * Whether a message with only this row leaves the column out, whatever rows come later: one of
   * them may say the scale or precision that makes a column of nulls writable.
   */
  boolean omittedAlone(int row) {
    settle();
    return row < born || isNull(row) && !store.writable(0) && store.writable(1);
  }

  /** Exact bytes of the column's data for the rows [from, to). */
  long bytes(int from, int to) {
    settle();
    int rows = to - from;
    int nullRows = nullsIn(from, to);
    long bitmap = flagged(nullRows) ? (rows + 7L) >> 3 : 0;
    long body =
        all(from, to) && store instanceof SymbolStore symbols
            ? symbols.bytes()
            : store.bytes(nulls, from, to, rows - nullRows);
    return 1 + bitmap + body;
  }

  /**
   * Bytes of the column's data in a message with only this row.
   *
   * @param own the dictionary of that message
   */
  long bytesAlone(int row, SymbolDictionary own) {
    settle();
    if (isNull(row)) {
      return 1 + 1 + store.bytes(nulls, row, row, 0);
    }
    long body =
        store instanceof SymbolStore symbols
            ? Varint.size(own.idOf(block.dictionary(), symbols.id(row)))
            : store.bytes(nulls, row, row + 1, 1);
    // A later geohash may be of those that need a bitmap in the whole column.
    return 1 + (store instanceof GeohashStore ? 1 : 0) + body;
  }

  /** Whether a row, ended or at hand, has no value where that is marked. */
  private boolean isNull(int row) {
    return store.hasNull() && (row >= filled || nulls.isNull(row));
  }

  void write(WireBuffer out, int from, int to) {
    settle();
    int nullRows = nullsIn(from, to);
    boolean flagged = flagged(nullRows);
    out.putByte(flagged ? 1 : 0);
    if (flagged) {
      nulls.write(out, from, to);
    }
    store.write(out, nulls, from, to, to - from - nullRows);
  }

  /** Whether it holds symbols. */
  boolean symbols() {
    return store instanceof SymbolStore;
  }

  /** Forgets the ids of the symbols; those that still count come by {@link #renumber}. */
  void forgetIds() {
    settle();
    store.clear();
  }

  /** Gives the symbol of a row the id that belongs to its old one. */
  void renumber(int row, NewIds ids) {
    if (row < filled && !nulls.isNull(row)) {
      SymbolStore symbols = (SymbolStore) store;
      symbols.put(row, ids.of(symbols.id(row)));
    }
  }

  /** Bytes of the value of a row, its symbol's text included; little more than right. */
  long valueBytes(int row, SymbolDictionary dictionary) {
    if (row >= filled || nulls.isNull(row)) {
      return 0;
    }
    if (store instanceof SymbolStore ids) {
      return dictionary.encodedBytes(ids.id(row), ids.id(row) + 1);
    }
    return store.bytes(nulls, row, row + 1, 1);
  }

  /** The highest symbol id of the rows [from, to) and one, 0 where there is none. */
  int symbolLimit(int from, int to) {
    if (!(store instanceof SymbolStore symbols)) {
      return 0;
    }
    settle();
    if (from > 0 || to < block.rows()) {
      return symbols.highest(nulls, from, to) + 1;
    }
    boolean valueAfter = filled > to && !nulls.isNull(to);
    return symbols.highest(!valueAfter) + 1;
  }

  private boolean flagged(int nullRows) {
    return nullRows > 0 || store.needsBitmap();
  }

  private boolean all(int from, int to) {
    return from == 0 && to == filled;
  }

  private int nullsIn(int from, int to) {
    return all(from, to) ? nulls.count() : nulls.count(from, to);
  }

  private void settle() {
    if (filled < block.rows()) {
      fillNulls(block.rows());
    }
  }
}
