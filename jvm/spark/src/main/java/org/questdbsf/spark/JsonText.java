package org.questdbsf.spark;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Base64;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.questdbsf.qwp.ColumnBuffer;

/**
 * Writes values as JSON text ({@code unsupported=json}, and rows that go to the dead letters).
 * Times are in ISO form, UTC; binary is base64; NaN and infinities are strings, since JSON has no
 * such numbers. A Time is its nanoseconds since midnight, a DayTimeInterval its microseconds, a
 * YearMonthInterval its months.
 */
final class JsonText implements FieldWriter {
  private static final long MICROS_IN_SECOND = 1_000_000;
  private static final int NANOS_IN_MICRO = 1000;

  /** What becomes of a text that is not UTF-8, which Spark lets pass. */
  enum Invalid {
    /** The value is refused, as in a column of text. */
    REFUSED,
    /** An object with its bytes stands for it: {@code {"not_utf8_base64":"…"}}. */
    SHOWN
  }

  private final DataType type;
  private final StringBuilder text = new StringBuilder();

  JsonText(DataType type) {
    this.type = type;
  }

  @Override
  public void write(SpecializedGetters row, int ordinal, ColumnBuffer out) {
    text.setLength(0);
    append(text, row, ordinal, type, Invalid.REFUSED);
    out.putText(text);
  }

  /** Appends one field, {@code null} included. */
  private static void append(
      StringBuilder to, SpecializedGetters row, int i, DataType type, Invalid invalid) {
    if (row.isNullAt(i)) {
      to.append("null");
      return;
    }
    switch (SourceKind.of(type)) {
      case BOOLEAN -> to.append(row.getBoolean(i));
      case BYTE -> to.append(row.getByte(i));
      case SHORT -> to.append(row.getShort(i));
      case INT, YEAR_MONTH_INTERVAL -> to.append(row.getInt(i));
      case LONG, DAY_TIME_INTERVAL, TIME -> to.append(row.getLong(i));
      case FLOAT -> number(to, row.getFloat(i), Float.toString(row.getFloat(i)));
      case DOUBLE -> number(to, row.getDouble(i), Double.toString(row.getDouble(i)));
      case DECIMAL -> {
        DecimalType decimal = (DecimalType) type;
        to.append(
            row.getDecimal(i, decimal.precision(), decimal.scale())
                .toJavaBigDecimal()
                .toPlainString());
      }
      case STRING -> text(to, row.getUTF8String(i), invalid);
      case BINARY -> quote(to, Base64.getEncoder().encodeToString(row.getBinary(i)));
      case DATE -> quote(to, LocalDate.ofEpochDay(row.getInt(i)).toString());
      case TIMESTAMP -> quote(to, instant(row.getLong(i)).toString());
      case TIMESTAMP_NTZ ->
          quote(to, LocalDateTime.ofInstant(instant(row.getLong(i)), ZoneOffset.UTC).toString());
      case STRUCT -> {
        StructType struct = (StructType) type;
        struct(to, row.getStruct(i, struct.fields().length), struct, invalid);
      }
      case MAP -> map(to, row.getMap(i), (MapType) type, invalid);
      case DOUBLE_ARRAY, LONG_ARRAY, OTHER_ARRAY ->
          array(to, row.getArray(i), ((ArrayType) type).elementType(), invalid);
      case VARIANT -> to.append(row.get(i, type)); // its text is JSON
      default -> quote(to, String.valueOf(row.get(i, type)));
    }
  }

  /** Appends a row as an object. */
  static void struct(StringBuilder to, InternalRow row, StructType type, Invalid invalid) {
    StructField[] fields = type.fields();
    to.append('{');
    for (int i = 0; i < fields.length; i++) {
      to.append(i == 0 ? "" : ",");
      quote(to, fields[i].name());
      to.append(':');
      append(to, row, i, fields[i].dataType(), invalid);
    }
    to.append('}');
  }

  private static void array(StringBuilder to, ArrayData array, DataType element, Invalid invalid) {
    to.append('[');
    for (int i = 0; i < array.numElements(); i++) {
      to.append(i == 0 ? "" : ",");
      append(to, array, i, element, invalid);
    }
    to.append(']');
  }

  private static void map(StringBuilder to, MapData map, MapType type, Invalid invalid) {
    ArrayData keys = map.keyArray();
    ArrayData values = map.valueArray();
    StringBuilder key = new StringBuilder();
    to.append('{');
    for (int i = 0; i < map.numElements(); i++) {
      to.append(i == 0 ? "" : ",");
      key.setLength(0);
      append(key, keys, i, type.keyType(), invalid);
      if (key.charAt(0) == '"') {
        to.append(key);
      } else {
        quote(to, key.toString());
      }
      to.append(':');
      append(to, values, i, type.valueType(), invalid);
    }
    to.append('}');
  }

  /** What is not UTF-8 would become replacement characters: another text. */
  private static void text(StringBuilder to, UTF8String value, Invalid invalid) {
    String text = value.toString();
    if (text.indexOf('\ufffd') < 0 || UTF8String.fromString(text).equals(value)) {
      quote(to, text);
    } else if (invalid == Invalid.SHOWN) {
      to.append("{\"not_utf8_base64\":\"");
      to.append(Base64.getEncoder().encodeToString(value.getBytes())).append("\"}");
    } else {
      throw FieldWriters.invalid("the text '" + text + "' in it is not UTF-8");
    }
  }

  private static void number(StringBuilder to, double value, String text) {
    if (Double.isFinite(value)) {
      to.append(text);
    } else {
      quote(to, text);
    }
  }

  private static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, MICROS_IN_SECOND),
        Math.floorMod(micros, MICROS_IN_SECOND) * NANOS_IN_MICRO);
  }

  /** Appends a JSON string. */
  static void quote(StringBuilder to, String text) {
    to.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> to.append("\\\"");
        case '\\' -> to.append("\\\\");
        case '\n' -> to.append("\\n");
        case '\r' -> to.append("\\r");
        case '\t' -> to.append("\\t");
        default -> {
          if (c < 0x20 || Character.isSurrogate(c) && !paired(text, i)) {
            to.append(String.format("\\u%04x", (int) c));
          } else {
            to.append(c);
          }
        }
      }
    }
    to.append('"');
  }

  private static boolean paired(String text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }
}
