package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * Points in time between units. To a finer unit by exact multiplication (an overflow is refused).
 * Nanoseconds into a column of microseconds are divided, rounding towards zero, as the engine
 * itself does wherever it meets both. DATE, in milliseconds, takes only DATE.
 */
final class TimeCells {
  private static final long MICROS_A_MILLI = 1_000;
  private static final long NANOS_A_MICRO = 1_000;
  private static final long NANOS_A_MILLI = 1_000_000;

  private TimeCells() {}

  static CellWriter of(DecodedColumn values, int column, int type) {
    if (ColumnType.isTimestamp(type)) {
      boolean nanos = ColumnType.isTimestampNano(type);
      QwpType unit = values.type();
      return (row, i) -> row.putTimestamp(column, convert(values.getLong(i), unit, nanos));
    }
    return values.type() == QwpType.DATE && ColumnType.tagOf(type) == ColumnType.DATE
        ? (row, i) -> row.putDate(column, values.getLong(i))
        : null;
  }

  /** A wire value in the unit of the column. */
  static long convert(long value, QwpType unit, boolean toNanos) throws ValueRefusedException {
    try {
      return switch (unit) {
        case DATE -> Math.multiplyExact(value, toNanos ? NANOS_A_MILLI : MICROS_A_MILLI);
        case TIMESTAMP -> toNanos ? Math.multiplyExact(value, NANOS_A_MICRO) : value;
        case TIMESTAMP_NANOS -> toNanos ? value : value / NANOS_A_MICRO;
        default -> throw new IllegalArgumentException("no point in time: " + unit);
      };
    } catch (ArithmeticException e) {
      throw new ValueRefusedException(value + " as " + unit + " is out of range");
    }
  }
}
