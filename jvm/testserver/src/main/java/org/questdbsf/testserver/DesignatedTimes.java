package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.TableWriter;
import io.questdb.cairo.wal.WalWriter;
import io.questdb.std.Numbers;
import java.util.ArrayList;
import java.util.List;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * The designated timestamps of a block's rows: the column without a name, or one with the name of
 * the table's designated timestamp.
 *
 * <p>Both together harm the table, as on the real server: each is appended to the one column that
 * is there, so that this message's times and those of later ones move.
 */
final class DesignatedTimes {
  private final WalWriter writer;
  private final int column;
  private final boolean nanos;
  private final long now;
  private final List<DecodedColumn> sent = new ArrayList<>();

  DesignatedTimes(WalWriter writer) {
    this.writer = writer;
    this.column = writer.getMetadata().getTimestampIndex();
    int type = writer.getMetadata().getColumnType(column);
    this.nanos = ColumnType.isTimestampNano(type);
    this.now = ColumnType.getTimestampDriver(type).getTicks();
  }

  void add(DecodedColumn times) throws RefusedException {
    switch (times.type()) {
      case TIMESTAMP, TIMESTAMP_NANOS, DATE, LONG, DOUBLE -> sent.add(times);
      case BYTE, SHORT, INT, FLOAT, CHAR, IPV4, UUID, LONG256 ->
          throw new RefusedException(
              RefusedException.WRITE_ERROR,
              "designated timestamp of type " + times.type() + ": not read by this server");
      default ->
          throw new RefusedException(
              RefusedException.INTERNAL_ERROR,
              "unexpected error: class " + times.type() + " cannot be cast to class TIMESTAMP");
    }
  }

  /** The time of a row: by the last column that has it, or else the server's. */
  long at(int row) throws RefusedException, ValueRefusedException {
    if (sent.isEmpty()) {
      return now;
    }
    DecodedColumn times = sent.get(sent.size() - 1);
    if (!times.isNull(row)) {
      return value(times, row);
    }
    if (!times.hasBitmap()) {
      throw new RefusedException(
          RefusedException.WRITE_ERROR, "designated timestamp column cannot be NULL");
    }
    return now;
  }

  /** Appends the values of all columns but the last, which are in the way of all that follow. */
  void appendSurplus() throws ValueRefusedException {
    for (DecodedColumn times : sent.subList(0, Math.max(0, sent.size() - 1))) {
      TableWriter.Row anywhere = writer.newRowDeferTimestamp();
      for (int row = 0; row < times.rows(); row++) {
        anywhere.putLong(column, times.isNull(row) ? Numbers.LONG_NULL : value(times, row));
      }
    }
  }

  /** Timestamps in the unit of the column; of other types the bits as they are. */
  private long value(DecodedColumn times, int row) throws ValueRefusedException {
    return switch (times.type()) {
      case TIMESTAMP, TIMESTAMP_NANOS -> TimeCells.convert(times.getLong(row), times.type(), nanos);
      case DOUBLE -> Double.doubleToRawLongBits(times.getDouble(row));
      default -> times.getLong(row);
    };
  }
}
