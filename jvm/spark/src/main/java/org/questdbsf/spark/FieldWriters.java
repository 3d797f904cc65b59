package org.questdbsf.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/** Makes the {@link FieldWriter} of a column from its types; numbers are written here. */
final class FieldWriters {
  private static final int MAX_LONG_DIGITS = 18;

  private FieldWriters() {}

  /** Reads a whole number of any width. */
  @FunctionalInterface
  private interface LongReader {
    long read(SpecializedGetters row, int ordinal);
  }

  /** Reads a number with a point, of either width. */
  @FunctionalInterface
  private interface DoubleReader {
    double read(SpecializedGetters row, int ordinal);
  }

  /** The writer of a column; the pair of types was checked by {@link ColumnTypes}. */
  static FieldWriter of(ColumnPlan column, SfOptions options) {
    SourceKind kind = SourceKind.of(column.source());
    QwpType target = column.target().type();
    boolean sentinelIsNull = options.is(SfOption.SENTINEL_VALUES, "null");
    if (kind.fitsJson() && target == QwpType.VARCHAR) {
      return new JsonText(column.source());
    }
    return switch (kind) {
      case BOOLEAN -> (row, i, out) -> out.putBoolean(row.getBoolean(i));
      case BYTE -> integer((row, i) -> row.getByte(i), column.target(), sentinelIsNull);
      case SHORT -> integer((row, i) -> row.getShort(i), column.target(), sentinelIsNull);
      case INT -> integer((row, i) -> row.getInt(i), column.target(), sentinelIsNull);
      case LONG ->
          isTime(target)
              ? TimeWriters.of(column, options)
              : integer((row, i) -> row.getLong(i), column.target(), sentinelIsNull);
      case FLOAT -> floating((row, i) -> row.getFloat(i), target, sentinelIsNull);
      case DOUBLE -> floating((row, i) -> row.getDouble(i), target, sentinelIsNull);
      case DECIMAL -> decimal((DecimalType) column.source(), target);
      case STRING -> TextWriters.of(column.target(), sentinelIsNull);
      case BINARY -> BinaryWriters.of(target);
      case TIMESTAMP, TIMESTAMP_NTZ, DATE, TIME, DAY_TIME_INTERVAL ->
          TimeWriters.of(column, options);
      case DOUBLE_ARRAY, LONG_ARRAY -> new ArrayWriter(column);
      default ->
          throw new IllegalStateException("no writer for " + kind + " to " + column.target());
    };
  }

  private static boolean isTime(QwpType target) {
    return target == QwpType.TIMESTAMP
        || target == QwpType.TIMESTAMP_NANOS
        || target == QwpType.DATE;
  }

  private static FieldWriter integer(LongReader reader, TargetType target, boolean sentinelIsNull) {
    return switch (target.type()) {
      case INT -> ranged(reader, Integer.MIN_VALUE, Integer.MAX_VALUE, "INT", sentinelIsNull);
      case LONG -> ranged(reader, Long.MIN_VALUE, Long.MAX_VALUE, "LONG", sentinelIsNull);
      case FLOAT -> (row, i, out) -> putExactFloat(reader.read(row, i), out);
      case DOUBLE -> (row, i, out) -> putExactDouble(reader.read(row, i), out);
      case DECIMAL64, DECIMAL128, DECIMAL256 -> wholeDecimal(reader, target);
      default -> (row, i, out) -> out.putLong(reader.read(row, i)); // BYTE, SHORT: checked there
    };
  }

  private static FieldWriter wholeDecimal(LongReader reader, TargetType target) {
    int digits = target.precision() - target.scale();
    if (digits > MAX_LONG_DIGITS) {
      return (row, i, out) -> out.putDecimal(reader.read(row, i), 0);
    }
    long bound = BigInteger.TEN.pow(digits).longValueExact();
    return (row, i, out) -> {
      long value = reader.read(row, i);
      if (value <= -bound || value >= bound) {
        throw invalid("value " + value + " does not fit " + target.ddl());
      }
      out.putDecimal(value, 0);
    };
  }

  private static FieldWriter floating(DoubleReader reader, QwpType target, boolean sentinelIsNull) {
    return (row, i, out) -> {
      double value = reader.read(row, i);
      if (Double.isInfinite(value)) {
        if (!sentinelIsNull) {
          throw invalid(
              "value "
                  + value
                  + " is read by QuestDB as a null "
                  + target
                  + "; set sentinel_values=null to write null");
        }
      } else if (target == QwpType.DOUBLE) {
        out.putDouble(value);
      } else {
        narrow(value, out);
      }
    };
  }

  private static FieldWriter ranged(
      LongReader reader, long min, long max, String type, boolean sentinelIsNull) {
    return (row, i, out) -> {
      long value = reader.read(row, i);
      if (value > min && value <= max) {
        out.putLong(value);
      } else if (value != min) {
        throw invalid("value " + value + " does not fit " + type);
      } else if (!sentinelIsNull) {
        throw sentinel(value, type);
      }
    };
  }

  /** The error for a value that QuestDB would read back as null. */
  static SfException sentinel(Object value, String type) {
    return invalid(
        "value "
            + value
            + " is how QuestDB stores a null "
            + type
            + "; set sentinel_values=null to write null");
  }

  private static void putExactFloat(long value, ColumnBuffer out) {
    float rounded = value;
    if (rounded >= 0x1p63f || (long) rounded != value) {
      throw invalid("value " + value + " has more digits than FLOAT holds");
    }
    out.putFloat(rounded);
  }

  private static void putExactDouble(long value, ColumnBuffer out) {
    double rounded = value;
    if (rounded >= 0x1p63 || (long) rounded != value) {
      throw invalid("value " + value + " has more digits than DOUBLE holds");
    }
    out.putDouble(rounded);
  }

  private static void narrow(double value, ColumnBuffer out) {
    float narrow = (float) value;
    if (narrow != value && !Double.isNaN(value)) {
      throw invalid("value " + value + " has more digits than FLOAT holds");
    }
    out.putFloat(narrow);
  }

  private static FieldWriter decimal(DecimalType source, QwpType target) {
    int precision = source.precision();
    int scale = source.scale();
    if (target == QwpType.DOUBLE) {
      return (row, i, out) ->
          out.putDouble(row.getDecimal(i, precision, scale).toJavaBigDecimal().doubleValue());
    }
    if (precision > MAX_LONG_DIGITS) {
      return (row, i, out) ->
          out.putDecimal(rescaled(row.getDecimal(i, precision, scale).toJavaBigDecimal(), scale));
    }
    return (row, i, out) -> {
      if (row instanceof UnsafeRow) {
        out.putDecimal(row.getLong(i), scale); // how UnsafeRow keeps up to 18 digits
      } else {
        Decimal value = row.getDecimal(i, precision, scale);
        if (value.scale() == scale) {
          out.putDecimal(value.toUnscaledLong(), scale);
        } else { // rows of objects keep 1.5 as it is in a column of DECIMAL(10,2)
          out.putDecimal(rescaled(value.toJavaBigDecimal(), scale));
        }
      }
    };
  }

  private static BigDecimal rescaled(BigDecimal value, int scale) {
    try {
      return value.setScale(scale, RoundingMode.UNNECESSARY);
    } catch (ArithmeticException e) {
      throw invalid("decimal " + value + " has more than " + scale + " digits behind its point");
    }
  }

  static SfException invalid(String message) {
    return new SfException(ErrorCode.VALUE_INVALID, message);
  }
}
