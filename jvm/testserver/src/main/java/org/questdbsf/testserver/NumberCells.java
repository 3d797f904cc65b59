package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.wal.WriterRowUtils;
import io.questdb.std.Decimal256;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/** Numbers into columns that hold them exactly; what a column cannot hold is refused by value. */
final class NumberCells {
  private static final long EXACT_IN_FLOAT = 1L << 24;
  private static final long EXACT_IN_DOUBLE = 1L << 53;

  private NumberCells() {}

  static CellWriter integer(DecodedColumn values, int column, int type) {
    return switch (ColumnType.tagOf(type)) {
      case ColumnType.BYTE ->
          (row, i) ->
              row.putByte(column, (byte) within(values.getLong(i), Byte.MIN_VALUE, Byte.MAX_VALUE));
      case ColumnType.SHORT ->
          (row, i) ->
              row.putShort(
                  column, (short) within(values.getLong(i), Short.MIN_VALUE, Short.MAX_VALUE));
      // The smallest INT and LONG are QuestDB's nulls; the decoder reports them as such.
      case ColumnType.INT ->
          (row, i) ->
              row.putInt(
                  column, (int) within(values.getLong(i), -Integer.MAX_VALUE, Integer.MAX_VALUE));
      case ColumnType.LONG -> (row, i) -> row.putLong(column, values.getLong(i));
      case ColumnType.FLOAT ->
          (row, i) ->
              row.putFloat(column, within(values.getLong(i), -EXACT_IN_FLOAT, EXACT_IN_FLOAT));
      case ColumnType.DOUBLE ->
          (row, i) ->
              row.putDouble(column, within(values.getLong(i), -EXACT_IN_DOUBLE, EXACT_IN_DOUBLE));
      default ->
          ColumnType.isDecimal(type)
              ? decimal(i -> BigDecimal.valueOf(values.getLong(i)), column, type)
              : null;
    };
  }

  static CellWriter floating(DecodedColumn values, int column, int type) {
    return switch (ColumnType.tagOf(type)) {
      case ColumnType.DOUBLE -> (row, i) -> row.putDouble(column, values.getDouble(i));
      case ColumnType.FLOAT ->
          (row, i) -> {
            double value = values.getDouble(i);
            if (Double.compare((float) value, value) != 0) {
              throw new ValueRefusedException(value + " is not exact as FLOAT");
            }
            row.putFloat(column, (float) value);
          };
      default -> null;
    };
  }

  static CellWriter decimal(DecodedColumn values, int column, int type) {
    return ColumnType.isDecimal(type) ? decimal(values::getDecimal, column, type) : null;
  }

  private static CellWriter decimal(Source source, int column, int type) {
    int scale = ColumnType.getDecimalScale(type);
    int precision = ColumnType.getDecimalPrecision(type);
    return (row, i) -> {
      BigDecimal value = source.get(i);
      BigDecimal scaled;
      try {
        scaled = value.setScale(scale, RoundingMode.UNNECESSARY);
      } catch (ArithmeticException e) {
        throw new ValueRefusedException(value.toPlainString() + " has too many decimal places");
      }
      if (scaled.precision() > precision) {
        throw new ValueRefusedException(value.toPlainString() + " has too many digits");
      }
      WriterRowUtils.putDecimal(column, Decimal256.fromBigDecimal(scaled), type, row);
    };
  }

  private static long within(long value, long min, long max) throws ValueRefusedException {
    if (value < min || value > max) {
      throw new ValueRefusedException(value + " is not within " + min + " to " + max);
    }
    return value;
  }

  private interface Source {
    BigDecimal get(int row);
  }
}
