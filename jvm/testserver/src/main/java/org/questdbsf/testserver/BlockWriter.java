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
import java.util.List;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/** One table block into one WAL writer, without committing it. */
final class BlockWriter {
  private static final int MAX_NAME_UNITS = 127;

  private final DecodedTable block;
  private final WalWriter writer;
  private final DesignatedTimes times;
  private final List<DecodedColumn> values = new ArrayList<>();
  private final List<CellWriter> cells = new ArrayList<>();

  private BlockWriter(DecodedTable block, WalWriter writer) {
    this.block = block;
    this.writer = writer;
    this.times = new DesignatedTimes(writer);
  }

  /**
   * Adds the columns that the table lacks and appends the rows. Without rows it does nothing.
   *
   * @throws RefusedException if a type or a value does not fit; rows before it are in the writer,
   *     and are the caller's to roll back
   */
  static void write(DecodedTable block, WalWriter writer) throws RefusedException {
    if (block.rows() == 0) {
      return;
    }
    BlockWriter self = new BlockWriter(block, writer);
    try (DirectArray array = new DirectArray()) {
      self.addColumns();
      self.bind(array);
      self.appendRows();
    }
  }

  private void addColumns() throws RefusedException {
    for (DecodedColumn column : block.columns()) {
      if (!column.name().isEmpty() && writer.getMetadata().getColumnIndexQuiet(column.name()) < 0) {
        add(column);
      }
    }
  }

  private void add(DecodedColumn column) throws RefusedException {
    if (!TableUtils.isValidColumnName(column.name(), MAX_NAME_UNITS)) {
      throw new RefusedException(
          RefusedException.SCHEMA_MISMATCH,
          "invalid column name [table="
              + writer.getTableToken().getTableName()
              + ", column="
              + column.name()
              + "]");
    }
    int type = NewColumn.typeOf(column);
    if (type == ColumnTypes.UNKNOWN) {
      return;
    }
    try {
      writer.addColumn(column.name(), type, AllowAllSecurityContext.INSTANCE);
    } catch (CairoException e) {
      // Another connection may have added it between the look and the change.
      if (writer.getMetadata().getColumnIndexQuiet(column.name()) < 0) {
        throw e;
      }
    }
  }

  private void bind(DirectArray array) throws RefusedException {
    TableRecordMetadata table = writer.getMetadata();
    int timeIndex = table.getTimestampIndex();
    for (DecodedColumn column : block.columns()) {
      int index = column.name().isEmpty() ? timeIndex : table.getColumnIndexQuiet(column.name());
      if (index == timeIndex) {
        times.add(column);
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
  }

  private void appendRows() throws RefusedException {
    times.appendSurplus();
    for (int row = 0; row < block.rows(); row++) {
      TableWriter.Row target = writer.newRow(times.at(row));
      for (int c = 0; c < cells.size(); c++) {
        put(target, c, row);
      }
      target.append();
    }
  }

  private void put(TableWriter.Row target, int cell, int row) throws RefusedException {
    DecodedColumn column = values.get(cell);
    if (column.isNull(row)) {
      return;
    }
    try {
      cells.get(cell).put(target, row);
    } catch (ValueRefusedException e) {
      TableRecordMetadata table = writer.getMetadata();
      int type = table.getColumnType(table.getColumnIndexQuiet(column.name()));
      throw mismatch(
          column,
          "the column is " + ColumnType.nameOf(type) + ", row " + row + ": " + e.getMessage());
    }
  }

  private RefusedException mismatch(DecodedColumn column, String why) {
    return new RefusedException(
        RefusedException.SCHEMA_MISMATCH,
        "table '"
            + block.name()
            + "', column '"
            + column.name()
            + "': sent "
            + ColumnTypes.describe(column)
            + ", "
            + why);
  }
}
