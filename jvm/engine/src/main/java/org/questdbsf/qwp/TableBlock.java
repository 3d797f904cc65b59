package org.questdbsf.qwp;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Rows of one table being gathered, by column. A row is: values put into columns, then {@link
 * #endRow()} or {@link #cancelRow()}. Columns keep the order in which they were first asked for,
 * the designated timestamp goes last (client spec, section on the payload). Columns and capacity
 * outlive {@link #clear()}, so that a steady stream allocates nothing.
 *
 * <p>Used by the producer thread only. More than {@link QwpLimits#MAX_FRAME_ROWS} rows may be
 * gathered; a message takes at most that many of them.
 */
public final class TableBlock {
  private static final byte[] NO_NAME = {};

  /** Bytes of a column for one row besides name and value: lengths, type, nulls, offsets. */
  private static final int COLUMN_OVERHEAD = 16;

  /** Counts before the columns, each five bytes at most. */
  private static final int MESSAGE_OVERHEAD = 32;

  private final String table;
  private final byte[] tableUtf8;
  private final int maxNameBytes;
  private final List<ColumnBuffer> columns = new ArrayList<>();
  private final Map<String, ColumnBuffer> bySpelling = new HashMap<>();
  private final Map<String, ColumnBuffer> byFold = new HashMap<>();
  private SymbolDictionary dictionary;
  private ColumnBuffer designated;
  private int rows;
  private int expected;
  private int columnsEnded;
  private boolean designatedEnded;
  private int published;
  private int columnsChanged;
  private int columnsNoted; // and changes of them
  private long columnBytes; // of a row without values of variable length, names included
  private long grown; // by values of the row at hand that have no fixed length

  /**
   * @param table name of the table
   * @param dictionary gives the ids of symbols
   * @param maxNameBytes UTF-8 bytes that a name may take, {@link QwpLimits#MAX_NAME_BYTES} in a
   *     server's default settings
   * @throws SfException NAME_INVALID where QuestDB would not accept the table's name
   */
  public TableBlock(String table, SymbolDictionary dictionary, int maxNameBytes) {
    this.table = table;
    this.tableUtf8 = Names.table(table, maxNameBytes);
    this.dictionary = Objects.requireNonNull(dictionary, "dictionary");
    this.maxNameBytes = maxNameBytes;
  }

  /** The table's name. */
  public String table() {
    return table;
  }

  /** What gives its symbols their ids. */
  public SymbolDictionary dictionary() {
    return dictionary;
  }

  /** Rows ended since the last {@link #clear()}. */
  public int rows() {
    return rows;
  }

  /**
   * Finds a column, without regard to case, or adds it; rows before it are null in it. Asking in
   * the same order in each row is the cheapest.
   *
   * @throws SfException TYPE_CONFLICT where it is there with another type, NAME_INVALID where
   *     QuestDB would not accept the name, LIMIT_EXCEEDED beyond {@link QwpLimits#MAX_COLUMNS},
   *     TYPE_UNSUPPORTED for LONG_ARRAY
   */
  public ColumnBuffer column(String name, QwpType type) {
    ColumnBuffer column;
    if (expected < columns.size() && columns.get(expected).name().equals(name)) {
      column = columns.get(expected++);
    } else {
      column = find(name);
      if (column == null) {
        column = add(name, type);
      }
      expected = column.ordinal() + 1;
    }
    return ofType(column, type);
  }

  /**
   * The designated timestamp. A block without it leaves the time to the server. What a server does
   * with a null in it is not specified: give each row of a block a time, or none of them.
   *
   * @param type TIMESTAMP (µs) or TIMESTAMP_NANOS
   * @throws SfException TYPE_CONFLICT where the block has it with the other type
   */
  public ColumnBuffer designated(QwpType type) {
    if (type != QwpType.TIMESTAMP && type != QwpType.TIMESTAMP_NANOS) {
      throw new IllegalArgumentException("a designated timestamp cannot be " + type);
    }
    if (designated == null) {
      checkColumnLimit();
      designated = new ColumnBuffer(this, "", NO_NAME, -1, type);
      columnBytes += rowBytes(designated);
    }
    return ofType(designated, type);
  }

  /** The columns so far without the designated timestamp, in their order. */
  public List<ColumnBuffer> columns() {
    return Collections.unmodifiableList(columns);
  }

  /** Type of the designated timestamp, or null where no row has one yet. */
  public QwpType designatedType() {
    return designated == null ? null : designated.type();
  }

  /** Whether columns are new, or hold values of another kind, since {@link #noteColumns}; cheap. */
  public boolean hasNewColumns() {
    return columnCount() + columnsChanged != columnsNoted;
  }

  /** Whoever had to know of the columns knows them. Call it between rows. */
  public void noteColumns() {
    columnsNoted = columnCount() + columnsChanged;
  }

  /** A column's values ask for another look at it, or with -1 no longer do. */
  void columnChanged(int change) {
    columnsChanged += change;
  }

  private ColumnBuffer find(String name) {
    ColumnBuffer column = bySpelling.get(name);
    return column != null ? column : byFold.get(Names.fold(name));
  }

  private ColumnBuffer add(String name, QwpType type) {
    if (type == QwpType.LONG_ARRAY) {
      throw new SfException(
          ErrorCode.TYPE_UNSUPPORTED,
          "table '"
              + table
              + "', column '"
              + name
              + "': QuestDB keeps arrays of doubles only, and reads the bits of longs as doubles;"
              + " write them as DOUBLE_ARRAY, or as texts");
    }
    byte[] utf8 = Names.column(table, name, maxNameBytes);
    checkColumnLimit();
    ColumnBuffer column =
        new ColumnBuffer(this, name, utf8, columns.size(), Objects.requireNonNull(type));
    columns.add(column);
    columnBytes += rowBytes(column);
    bySpelling.put(name, column);
    byFold.put(Names.fold(name), column);
    return column;
  }

  private void checkColumnLimit() {
    if (columns.size() + (designated == null ? 0 : 1) >= QwpLimits.MAX_COLUMNS) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          "table '" + table + "' would get more than " + QwpLimits.MAX_COLUMNS + " columns");
    }
  }

  private static ColumnBuffer ofType(ColumnBuffer column, QwpType type) {
    if (column.type() != type) {
      throw column.place().error(ErrorCode.TYPE_CONFLICT, "was asked for as " + type);
    }
    return column;
  }

  /** Most bytes of a column for one row, but for a value of variable length. */
  private static long rowBytes(ColumnBuffer column) {
    return COLUMN_OVERHEAD + column.nameUtf8().length + Math.max(8, column.type().width());
  }

  /** A value of the row at hand has so many bytes besides. */
  void grewBy(long bytes) {
    grown += bytes;
  }

  /**
   * Bytes of a message with nothing but the row at hand, its columns and its symbols; cheap, and
   * never too few. In a wide table it can be much too many: ask {@link RowSize} before a refusal.
   */
  public long rowBytes() {
    return MessageHeader.SIZE + MESSAGE_OVERHEAD + tableUtf8.length + columnBytes + grown;
  }

  /**
   * Takes ids from another dictionary from now on. The rows that are not published get theirs anew,
   * in the order of rows, so that the first of them need the lowest ids.
   */
  public void moveTo(SymbolDictionary fresh) {
    if (fresh != dictionary) {
      new NewIds(dictionary, fresh).give(columns, published, rows);
      dictionary = fresh;
    }
  }

  /** Ends the current row; columns that got no value become null. */
  public void endRow() {
    rows = Math.incrementExact(rows);
    expected = 0;
    grown = 0;
    settleColumns();
  }

  /**
   * Ends so many rows at once, filled by {@link BulkColumn}; columns that got no values become null
   * in them.
   */
  public void endRows(int count) {
    rows = Math.addExact(rows, count);
    expected = 0;
    settleColumns();
  }

  private void settleColumns() {
    columnsEnded = columns.size();
    designatedEnded = designated != null;
  }

  /** Forgets the values put since the last row ended, in every column. The columns stay. */
  public void cancelRow() {
    for (int i = 0; i < columnCount(); i++) {
      columnAt(i).cancel();
    }
    expected = 0;
    grown = 0;
  }

  /**
   * As {@link #cancelRow()}, and forgets the columns that the row brought: a row that was refused
   * shall not add columns to a table, or fix their types. Their buffers refuse further use.
   */
  public void cancelRowAndItsColumns() {
    cancelRow();
    while (columns.size() > columnsEnded) {
      ColumnBuffer column = columns.remove(columns.size() - 1);
      column.rows().forget();
      columnBytes -= rowBytes(column);
      bySpelling.remove(column.name());
      byFold.remove(Names.fold(column.name()));
    }
    if (designated != null && !designatedEnded) {
      designated.rows().forget();
      columnBytes -= rowBytes(designated);
      designated = null;
    }
  }

  /** Exact size of the table block for all ended rows that are not published; O(columns). */
  public long encodedBytes() {
    return encodedBytes(published, rows);
  }

  /**
   * Exact size of the table block of the rows [fromRow, toRow); walks rows only in columns that
   * hold symbols or nulls.
   */
  public long encodedBytes(int fromRow, int toRow) {
    Objects.checkFromToIndex(fromRow, toRow, rows);
    long bytes = Varint.size(tableUtf8.length) + tableUtf8.length;
    bytes += Varint.size(toRow - fromRow);
    int written = 0;
    for (int i = 0; i < columnCount(); i++) {
      ColumnBuffer column = columnAt(i);
      if (!column.rows().omitted(fromRow, toRow)) {
        int name = column.nameUtf8().length;
        bytes += Varint.size(name) + name + 1 + column.rows().bytes(fromRow, toRow);
        written++;
      }
    }
    return bytes + Varint.size(written);
  }

  /** The highest symbol id of the ended rows that are not published, and one, or 0; O(columns). */
  public int symbolLimit() {
    return symbolLimit(published, rows);
  }

  /** As {@link #symbolLimit()} for the rows [fromRow, toRow); walks the rows of symbol columns. */
  public int symbolLimit(int fromRow, int toRow) {
    Objects.checkFromToIndex(fromRow, toRow, rows);
    int limit = 0;
    for (int i = 0; i < columns.size(); i++) {
      limit = Math.max(limit, columns.get(i).rows().symbolLimit(fromRow, toRow));
    }
    return limit;
  }

  /**
   * How many of the rows, counted from the first, are in frames already. They are there until
   * {@link #clear()}, but nobody needs them any more.
   */
  public int published() {
    return published;
  }

  /** The rows before this one are in frames. */
  public void published(int row) {
    published = Objects.checkIndex(row, rows + 1);
  }

  /** Forgets all rows, the one begun included; columns (with geohash precision) and room stay. */
  public void clear() {
    for (int i = 0; i < columnCount(); i++) {
      columnAt(i).clear();
    }
    rows = 0;
    published = 0;
    expected = 0;
    grown = 0;
  }

  /** Forgets all rows and all columns; buffers handed out before refuse further use. */
  public void forgetColumns() {
    for (int i = 0; i < columnCount(); i++) {
      columnAt(i).rows().forget();
    }
    rows = 0;
    published = 0;
    expected = 0;
    grown = 0;
    columnBytes = 0;
    columns.clear();
    bySpelling.clear();
    byFold.clear();
    designated = null;
    columnsChanged = 0;
    columnsNoted = 0;
    settleColumns();
  }

  /** Writes the table block of the rows [from, to). */
  void write(WireBuffer out, int from, int to) {
    Objects.checkFromToIndex(from, to, rows);
    if (to - from > QwpLimits.MAX_FRAME_ROWS) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          (to - from)
              + " rows of table '"
              + table
              + "' in one message; at most "
              + QwpLimits.MAX_FRAME_ROWS);
    }
    out.putString(tableUtf8);
    out.putVarint(to - from);
    int written = 0;
    for (int i = 0; i < columnCount(); i++) {
      written += columnAt(i).rows().omitted(from, to) ? 0 : 1;
    }
    out.putVarint(written);
    for (int i = 0; i < columnCount(); i++) {
      ColumnBuffer column = columnAt(i);
      if (!column.rows().omitted(from, to)) {
        out.putString(column.nameUtf8());
        out.putByte(column.type().code());
      }
    }
    for (int i = 0; i < columnCount(); i++) {
      ColumnRows data = columnAt(i).rows();
      if (!data.omitted(from, to)) {
        data.write(out, from, to);
      }
    }
  }

  byte[] tableUtf8() {
    return tableUtf8;
  }

  int columnCount() {
    return columns.size() + (designated == null ? 0 : 1);
  }

  ColumnBuffer columnAt(int i) {
    return i < columns.size() ? columns.get(i) : designated;
  }
}
