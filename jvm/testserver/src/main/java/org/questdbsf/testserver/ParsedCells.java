package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.GeoHashes;
import io.questdb.cairo.TableWriter;
import io.questdb.std.Long256Impl;
import io.questdb.std.Numbers;
import io.questdb.std.NumericException;
import io.questdb.std.Uuid;
import io.questdb.std.datetime.microtime.MicrosFormatUtils;
import io.questdb.std.datetime.millitime.DateFormatUtils;
import io.questdb.std.str.Utf8String;
import java.util.Locale;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * VARCHAR and BINARY into columns that hold no text: the value is parsed, and refused where that
 * fails. CHAR takes the first character, GEOHASH as many as it has room for.
 */
final class ParsedCells {
  private ParsedCells() {}

  /** The writer, or null for a column that takes no text. */
  static CellWriter of(DecodedColumn values, Target target) {
    String called = called(target);
    if (called == null) {
      return null;
    }
    return (row, i) -> {
      Utf8String text = new Utf8String(values.getBytes(i), false);
      try {
        parse(row, target, text);
      } catch (NumericException e) {
        throw new ValueRefusedException(
            "cannot parse %s from string [value=%s, column=%s]"
                .formatted(called, text, target.name()));
      }
    };
  }

  /** What the server says that it could not parse. */
  private static String called(Target target) {
    return switch (target.tag()) {
      case ColumnType.BOOLEAN -> "boolean";
      case ColumnType.TIMESTAMP -> "timestamp";
      case ColumnType.LONG256 -> "long256";
      case ColumnType.BYTE,
          ColumnType.SHORT,
          ColumnType.CHAR,
          ColumnType.INT,
          ColumnType.LONG,
          ColumnType.FLOAT,
          ColumnType.DOUBLE,
          ColumnType.DATE,
          ColumnType.UUID ->
          target.typeName();
      default ->
          ColumnType.isDecimal(target.type())
              ? "decimal"
              : ColumnType.isGeoHash(target.type()) ? "geohash" : null;
    };
  }

  private static void parse(TableWriter.Row row, Target target, Utf8String text)
      throws NumericException, ValueRefusedException {
    int column = target.index();
    CharSequence ascii = text.asAsciiCharSequence();
    switch (target.tag()) {
      case ColumnType.BOOLEAN -> row.putBool(column, bool(text.toString()));
      case ColumnType.BYTE -> NumberCells.putInteger(row, target, Numbers.parseInt(text));
      case ColumnType.SHORT -> row.putShort(column, Numbers.parseShort(text));
      case ColumnType.INT -> row.putInt(column, Numbers.parseInt(text));
      case ColumnType.LONG -> row.putLong(column, Numbers.parseLong(text));
      case ColumnType.FLOAT -> row.putFloat(column, Numbers.parseFloat(ascii));
      case ColumnType.DOUBLE -> row.putDouble(column, Numbers.parseDouble(ascii));
      case ColumnType.DATE -> row.putDate(column, DateFormatUtils.parseDate(ascii));
      case ColumnType.TIMESTAMP -> row.putTimestamp(column, timestamp(ascii, target));
      case ColumnType.CHAR -> row.putChar(column, firstUnit(text.toString()));
      case ColumnType.UUID -> {
        Uuid.checkDashesAndLength(text);
        row.putLong128(column, Uuid.parseLo(text, 0), Uuid.parseHi(text, 0));
      }
      case ColumnType.LONG256 -> row.putLong256(column, long256(text));
      default -> {
        if (ColumnType.isDecimal(target.type())) {
          DecimalCells.parse(row, target, ascii);
        } else {
          int bits = ColumnType.getGeoHashBits(target.type());
          row.putGeoHash(column, GeoHashes.fromStringTruncatingNl(ascii, 0, ascii.length(), bits));
        }
      }
    }
  }

  private static boolean bool(String text) throws NumericException {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default -> throw NumericException.INSTANCE;
    };
  }

  /** Without what is finer than a microsecond, also where the column has nanoseconds. */
  private static long timestamp(CharSequence text, Target target)
      throws NumericException, ValueRefusedException {
    long micros = MicrosFormatUtils.parseTimestamp(text);
    return ColumnType.isTimestampNano(target.type()) ? TimeCells.microsToNanos(micros) : micros;
  }

  /** CHAR's null where there is no character, or one of two units. */
  private static char firstUnit(String text) {
    return text.isEmpty() || Character.isSurrogate(text.charAt(0)) ? 0 : text.charAt(0);
  }

  private static Long256Impl long256(Utf8String text) throws NumericException {
    Long256Impl parsed = Numbers.parseLong256(text, new Long256Impl());
    if (Long256Impl.isNull(parsed)) {
      throw NumericException.INSTANCE;
    }
    return parsed;
  }
}
