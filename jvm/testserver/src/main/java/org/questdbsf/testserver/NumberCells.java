package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.TableWriter;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * Booleans, integers and floating-point values: into numbers, points in time and text.
 *
 * <p>An integer column takes what it holds exactly and refuses the rest by value; FLOAT and DOUBLE
 * take everything and round; DATE and TIMESTAMP take an integer as their own count of units.
 */
final class NumberCells {
  private NumberCells() {}

  static CellWriter ofBoolean(DecodedColumn values, Target target) {
    return switch (target.tag()) {
      case ColumnType.BOOLEAN -> (row, i) -> row.putBool(target.index(), values.getBoolean(i));
      case ColumnType.BYTE,
          ColumnType.SHORT,
          ColumnType.INT,
          ColumnType.LONG,
          ColumnType.FLOAT,
          ColumnType.DOUBLE ->
          (row, i) -> putInteger(row, target, values.getBoolean(i) ? 1 : 0);
      default -> TextCells.of(i -> Boolean.toString(values.getBoolean(i)), target);
    };
  }

  static CellWriter ofInteger(DecodedColumn values, Target target) {
    return switch (target.tag()) {
      case ColumnType.BYTE,
          ColumnType.SHORT,
          ColumnType.INT,
          ColumnType.LONG,
          ColumnType.FLOAT,
          ColumnType.DOUBLE,
          ColumnType.DATE,
          ColumnType.TIMESTAMP ->
          (row, i) -> putInteger(row, target, values.getLong(i));
      case ColumnType.IPv4 ->
          values.type() == QwpType.INT
              ? (row, i) -> row.putIPv4(target.index(), (int) values.getLong(i))
              : null;
      default ->
          ColumnType.isDecimal(target.type())
              ? DecimalCells.ofInteger(values, target)
              : TextCells.orSymbol(i -> Long.toString(values.getLong(i)), target);
    };
  }

  static CellWriter ofFloating(DecodedColumn values, Target target) {
    return switch (target.tag()) {
      case ColumnType.BYTE, ColumnType.SHORT, ColumnType.INT, ColumnType.LONG ->
          (row, i) -> putInteger(row, target, whole(values.getDouble(i), target));
      case ColumnType.FLOAT ->
          (row, i) -> row.putFloat(target.index(), (float) values.getDouble(i));
      case ColumnType.DOUBLE -> (row, i) -> row.putDouble(target.index(), values.getDouble(i));
      default ->
          ColumnType.isDecimal(target.type())
              ? DecimalCells.ofFloating(values, target)
              : TextCells.orSymbol(i -> TextCells.floating(values, i), target);
    };
  }

  /** Into any column of numbers or points in time; INT and LONG take their own null as a value. */
  static void putInteger(TableWriter.Row row, Target target, long value)
      throws ValueRefusedException {
    int column = target.index();
    switch (target.tag()) {
      case ColumnType.BYTE ->
          row.putByte(column, (byte) within(value, Byte.MIN_VALUE, Byte.MAX_VALUE, target));
      case ColumnType.SHORT ->
          row.putShort(column, (short) within(value, Short.MIN_VALUE, Short.MAX_VALUE, target));
      case ColumnType.INT ->
          row.putInt(column, (int) within(value, Integer.MIN_VALUE, Integer.MAX_VALUE, target));
      case ColumnType.LONG -> row.putLong(column, value);
      case ColumnType.FLOAT -> row.putFloat(column, value);
      case ColumnType.DOUBLE -> row.putDouble(column, value);
      case ColumnType.DATE -> row.putDate(column, value);
      case ColumnType.TIMESTAMP -> row.putTimestamp(column, value);
      default -> throw new IllegalArgumentException(target.typeName());
    }
  }

  private static long within(long value, long min, long max, Target target)
      throws ValueRefusedException {
    if (value < min || value > max) {
      throw new ValueRefusedException(
          "integer value %d out of range for %s [column=%s, min=%d, max=%d]"
              .formatted(value, target.typeName(), target.name(), min, max));
    }
    return value;
  }

  private static long whole(double value, Target target) throws ValueRefusedException {
    long whole = (long) value;
    if (whole != value) {
      throw new ValueRefusedException(
          "double value %s loses precision when converted to %s [column=%s]"
              .formatted(value, target.typeName(), target.name()));
    }
    return whole;
  }
}
