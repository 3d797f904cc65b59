package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.GeoHashes;
import io.questdb.std.Numbers;
import io.questdb.std.datetime.microtime.MicrosFormatUtils;
import io.questdb.std.datetime.millitime.DateFormatUtils;
import io.questdb.std.str.StringSink;
import io.questdb.std.str.Utf8String;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;

/** Values as text, into STRING, VARCHAR and, those of some types, SYMBOL. */
final class TextCells {
  private TextCells() {}

  /** The writer for STRING and VARCHAR; null for other columns. */
  static CellWriter of(Source text, Target target) {
    return switch (target.tag()) {
      case ColumnType.STRING -> (row, i) -> row.putStr(target.index(), text.get(i));
      case ColumnType.VARCHAR ->
          (row, i) -> row.putVarchar(target.index(), new Utf8String(text.get(i)));
      default -> null;
    };
  }

  /** The writer for STRING, VARCHAR and SYMBOL; null for other columns. */
  static CellWriter orSymbol(Source text, Target target) {
    return target.tag() == ColumnType.SYMBOL
        ? (row, i) -> row.putSym(target.index(), text.get(i))
        : of(text, target);
  }

  static String floating(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    Numbers.append(text, values.getDouble(row));
    return text.toString();
  }

  /** To the millisecond, whatever the unit. */
  static String timestamp(DecodedColumn values, int row) {
    long value = values.getLong(row);
    StringSink text = new StringSink();
    MicrosFormatUtils.appendDateTime(
        text, values.type() == QwpType.TIMESTAMP_NANOS ? value / 1_000 : value);
    return text.toString();
  }

  static String date(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    DateFormatUtils.appendDateTime(text, values.getLong(row));
    return text.toString();
  }

  static String uuid(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    Numbers.appendUuid(values.getUuidLo(row), values.getUuidHi(row), text);
    return text.toString();
  }

  static String long256(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    Numbers.appendLong256(
        values.getLong256(row, 0),
        values.getLong256(row, 1),
        values.getLong256(row, 2),
        values.getLong256(row, 3),
        text);
    return text.toString();
  }

  /** In bits, also where the precision is one of whole characters. */
  static String geohash(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    GeoHashes.appendBinaryStringUnsafe(values.getGeohash(row), values.precision(), text);
    return text.toString();
  }

  static String ipv4(DecodedColumn values, int row) {
    StringSink text = new StringSink();
    Numbers.intToIPv4Sink(text, (int) values.getLong(row));
    return text.toString();
  }

  /** The text of the value in a row of the message. */
  interface Source {
    String get(int row);
  }
}
