package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * Points in time: between micro- and nanoseconds, and into text. To nanoseconds by exact
 * multiplication (an overflow is refused), to microseconds by division, rounding towards zero.
 * DATE, in milliseconds, goes into DATE only.
 */
final class TimeCells {
  private static final long NANOS_A_MICRO = 1_000;

  private TimeCells() {}

  static CellWriter ofTimestamp(DecodedColumn values, Target target) {
    QwpType unit = values.type();
    if (ColumnType.isTimestamp(target.type())) {
      boolean nanos = ColumnType.isTimestampNano(target.type());
      return (row, i) -> row.putTimestamp(target.index(), convert(values.getLong(i), unit, nanos));
    }
    return TextCells.of(i -> TextCells.timestamp(values, i), target);
  }

  static CellWriter ofDate(DecodedColumn values, Target target) {
    return target.tag() == ColumnType.DATE
        ? (row, i) -> row.putDate(target.index(), values.getLong(i))
        : TextCells.of(i -> TextCells.date(values, i), target);
  }

  /** A wire value in the unit of the column. */
  static long convert(long value, QwpType unit, boolean toNanos) throws ValueRefusedException {
    if (unit == QwpType.TIMESTAMP && toNanos) {
      return microsToNanos(value);
    }
    return unit == QwpType.TIMESTAMP_NANOS && !toNanos ? value / NANOS_A_MICRO : value;
  }

  static long microsToNanos(long micros) throws ValueRefusedException {
    try {
      return Math.multiplyExact(micros, NANOS_A_MICRO);
    } catch (ArithmeticException e) {
      throw new ValueRefusedException("timestamp overflow converting micros to nanos: " + micros);
    }
  }
}
