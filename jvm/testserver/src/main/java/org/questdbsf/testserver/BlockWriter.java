package org.questdbsf.testserver;

import io.questdb.cairo.CairoException;
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
    } catch (ValueRefusedException e) {
      throw new RefusedException(RefusedException.SCHEMA_MISMATCH, e.getMessage());
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
    int type = ColumnTypes.columnTypeFor(column);
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
        Target target = new Target(index, table.getColumnName(index), table.getColumnType(index));
        cells.add(CellWriters.of(column, target, array));
        values.add(column);
      }
    }
  }

  private void appendRows() throws RefusedException, ValueRefusedException {
    times.appendSurplus();
    for (int row = 0; row < block.rows(); row++) {
      TableWriter.Row into = writer.newRow(times.at(row));
      for (int c = 0; c < cells.size(); c++) {
        if (!values.get(c).isNull(row)) {
          cells.get(c).put(into, row);
        }
      }
      into.append();
    }
  }
}
