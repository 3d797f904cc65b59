package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.TableWriter;
import io.questdb.cairo.wal.WriterRowUtils;
import io.questdb.std.Decimal256;
import io.questdb.std.Numbers;
import io.questdb.std.NumericException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * Numbers into DECIMAL columns: exactly, or refused by value. An infinity becomes NULL. Decimals go
 * into text too.
 */
final class DecimalCells {
  private DecimalCells() {}

  static CellWriter ofDecimal(DecodedColumn values, Target target) {
    return ColumnType.isDecimal(target.type())
        ? (row, i) -> put(row, target, values.getDecimal(i))
        : TextCells.of(i -> values.getDecimal(i).toPlainString(), target);
  }

  static CellWriter ofInteger(DecodedColumn values, Target target) {
    return (row, i) -> put(row, target, BigDecimal.valueOf(values.getLong(i)));
  }

  static CellWriter ofFloating(DecodedColumn values, Target target) {
    Decimal256 scratch = new Decimal256();
    int scale = scale(target);
    return (row, i) -> {
      double value = values.getDouble(i);
      if (!Double.isFinite(value)) {
        return;
      }
      try {
        Numbers.doubleToDecimal(value, scratch, precision(target), scale, false);
      } catch (NumericException e) {
        throw new ValueRefusedException(
            "double value %s cannot be converted to %s [column=%s, scale=%d]"
                .formatted(value, target.typeName(), target.name(), scale));
      }
      put(row, target, scratch);
    };
  }

  /**
   * Puts the number that a text of ASCII characters is. "NaN" is one, a null, of which a column of
   * up to 32 bits keeps the lowest: a zero.
   */
  static void parse(TableWriter.Row row, Target target, CharSequence text) throws NumericException {
    Decimal256 parsed = new Decimal256();
    parsed.ofString(text, 0, text.length(), precision(target), scale(target), false, false);
    boolean small = ColumnType.sizeOf(target.type()) <= Integer.BYTES;
    if (parsed.isNull() && small) {
      parsed.ofZero();
    }
    put(row, target, parsed);
  }

  private static void put(TableWriter.Row row, Target target, BigDecimal value)
      throws ValueRefusedException {
    BigDecimal scaled;
    try {
      scaled = value.setScale(scale(target), RoundingMode.UNNECESSARY);
    } catch (ArithmeticException e) {
      throw refused("causes precision loss converting to", target, value);
    }
    if (scaled.precision() > precision(target)) {
      throw refused("overflows", target, scaled);
    }
    put(row, target, Decimal256.fromBigDecimal(scaled));
  }

  private static void put(TableWriter.Row row, Target target, Decimal256 value) {
    WriterRowUtils.putDecimal(target.index(), value, target.type(), row);
  }

  private static ValueRefusedException refused(String why, Target target, BigDecimal value) {
    return new ValueRefusedException(
        "decimal value %s %s [column=%s, decimal=%s]"
            .formatted(why, target.typeName(), target.name(), value.toPlainString()));
  }

  private static int scale(Target target) {
    return ColumnType.getDecimalScale(target.type());
  }

  private static int precision(Target target) {
    return ColumnType.getDecimalPrecision(target.type());
  }
}
