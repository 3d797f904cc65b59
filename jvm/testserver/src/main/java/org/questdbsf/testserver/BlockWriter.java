package org.questdbsf.testserver;

import io.questdb.cairo.CairoException;
import io.questdb.cairo.ColumnType;
import io.questdb.cairo.TableUtils;
import io.questdb.cairo.TableWriter;
import io.questdb.cairo.arr.DirectArray;
import io.questdb.cairo.security.AllowAllSecurityContext;
import io.questdb.cairo.sql.TableRecordMetadata;
import io.questdb.cairo.wal.WalWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/** One table block into one WAL writer, without committing it. */
final class BlockWriter {
  private static final int MAX_NAME_UNITS = 127;

  private final DecodedTable block;
  private final WalWriter writer;
  private final List<DecodedColumn> values = new ArrayList<>();
  private final List<CellWriter> cells = new ArrayList<>();
  private DecodedColumn time;

  private BlockWriter(DecodedTable block, WalWriter writer) {
    this.block = block;
    this.writer = writer;
  }

  /** The column of the designated timestamp, or null if the block has none. */
  static DecodedColumn designated(DecodedTable block) {
    for (DecodedColumn column : block.columns()) {
      if (column.name().isEmpty()) {
        return column;
      }
    }
    return null;
  }

  /**
   * Adds the columns that the table lacks and appends the rows.
   *
   * @throws RefusedException if a type or a value does not fit; rows before it are in the writer,
   *     and are the caller's to roll back
   */
  static void write(DecodedTable block, WalWriter writer) throws RefusedException {
    BlockWriter self = new BlockWriter(block, writer);
    try (DirectArray array = new DirectArray()) {
      self.addColumns();
      self.bind(array);
      self.appendRows();
    }
  }

  private void addColumns() throws RefusedException {
    Set<String> seen = new HashSet<>();
    for (DecodedColumn column : block.columns()) {
      if (!seen.add(column.name().toLowerCase(Locale.ROOT))) {
        throw new RefusedException(
            RefusedException.PARSE_ERROR,
            "table '" + block.name() + "': column '" + column.name() + "' is there twice");
      }
      if (!column.name().isEmpty() && writer.getMetadata().getColumnIndexQuiet(column.name()) < 0) {
        add(column);
      }
    }
  }

  private void add(DecodedColumn column) throws RefusedException {
    int type = ColumnTypes.columnTypeFor(column);
    if (type == ColumnTypes.UNKNOWN) {
      return;
    }
    if (!TableUtils.isValidColumnName(column.name(), MAX_NAME_UNITS)) {
      throw mismatch(column, "not a valid column name");
    }
    try {
      writer.addColumn(column.name(), type, AllowAllSecurityContext.INSTANCE);
    } catch (CairoException e) {
      // Another connection may have added it between the look and the change.
      writer.goActive();
      if (writer.getMetadata().getColumnIndexQuiet(column.name()) < 0) {
        throw e;
      }
    }
  }

  private void bind(DirectArray array) throws RefusedException {
    TableRecordMetadata table = writer.getMetadata();
    int timeIndex = table.getTimestampIndex();
    time = designated(block);
    for (DecodedColumn column : block.columns()) {
      int index = column.name().isEmpty() ? -1 : table.getColumnIndexQuiet(column.name());
      if (index >= 0 && index == timeIndex) {
        if (time != null) {
          throw mismatch(column, "the designated timestamp is there twice");
        }
        time = column;
      } else if (index >= 0) {
        int type = table.getColumnType(index);
        CellWriter cell = CellWriters.of(column, index, type, array);
        if (cell == null) {
          throw mismatch(column, "the column is " + ColumnType.nameOf(type));
        }
        values.add(column);
        cells.add(cell);
      }
    }
    if (time != null
        && time.type() != QwpType.TIMESTAMP
        && time.type() != QwpType.TIMESTAMP_NANOS) {
      throw mismatch(time, "the column is the designated timestamp");
    }
  }

  private void appendRows() throws RefusedException {
    TableRecordMetadata table = writer.getMetadata();
    int timeType = table.getColumnType(table.getTimestampIndex());
    boolean nanos = ColumnType.isTimestampNano(timeType);
    for (int row = 0; row < block.rows(); row++) {
      DecodedColumn current = time;
      try {
        long at =
            time == null || time.isNull(row)
                ? ColumnType.getTimestampDriver(timeType).getTicks()
                : TimeCells.convert(time.getLong(row), time.type(), nanos);
        TableWriter.Row target = writer.newRow(at);
        for (int c = 0; c < cells.size(); c++) {
          current = values.get(c);
          if (!current.isNull(row)) {
            cells.get(c).put(target, row);
          }
        }
        target.append();
      } catch (ValueRefusedException e) {
        int index = table.getColumnIndexQuiet(current.name());
        int type = table.getColumnType(index < 0 ? table.getTimestampIndex() : index);
        throw mismatch(
            current,
            "the column is " + ColumnType.nameOf(type) + ", row " + row + ": " + e.getMessage());
      }
    }
  }

  private RefusedException mismatch(DecodedColumn column, String why) {
    String name = column.name().isEmpty() ? "<designated>" : column.name();
    return new RefusedException(
        RefusedException.SCHEMA_MISMATCH,
        "table '"
            + block.name()
            + "', column '"
            + name
            + "': sent "
            + ColumnTypes.describe(column)
            + ", "
            + why);
  }
}
