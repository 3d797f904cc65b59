package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.arr.DirectArray;
import io.questdb.std.BinarySequence;
import io.questdb.std.str.Utf8String;
import org.questdbsf.qwp.DecodedColumn;

/**
 * Which wire types a column of the table takes, and how: as a real server does, which is recorded
 * in {@code conformance/matrix.tsv}.
 *
 * <p>Much of it changes a value without a word: integers are taken as points in time, LONG is
 * rounded into DOUBLE, points in time lose their microseconds in text, texts are parsed as numbers,
 * CHAR takes the first character of a text. What a client must not let happen, it has to refuse
 * itself.
 */
final class CellWriters {
  private CellWriters() {}

  /**
   * The writer for values of a wire column into a column of the table.
   *
   * @param array scratch for array values, open until the last put
   * @throws RefusedException if the types do not fit
   */
  static CellWriter of(DecodedColumn values, Target target, DirectArray array)
      throws RefusedException {
    CellWriter writer = find(values, target, array);
    if (writer == null) {
      throw TypeRefusals.of(values, target);
    }
    return writer;
  }

  private static CellWriter find(DecodedColumn values, Target target, DirectArray array)
      throws RefusedException {
    return switch (values.type()) {
      case BOOLEAN -> NumberCells.ofBoolean(values, target);
      case BYTE, SHORT, INT, LONG -> NumberCells.ofInteger(values, target);
      case FLOAT, DOUBLE -> NumberCells.ofFloating(values, target);
      case DECIMAL64, DECIMAL128, DECIMAL256 -> DecimalCells.ofDecimal(values, target);
      case TIMESTAMP, TIMESTAMP_NANOS -> TimeCells.ofTimestamp(values, target);
      case DATE -> TimeCells.ofDate(values, target);
      case SYMBOL -> TextCells.orSymbol(values::getText, target);
      case VARCHAR -> varchar(values, target);
      case CHAR -> character(values, target);
      case BINARY -> binary(values, target);
      case UUID -> uuid(values, target);
      case LONG256 -> long256(values, target);
      case GEOHASH -> geohash(values, target);
      case IPV4 -> ipv4(values, target);
      case DOUBLE_ARRAY -> ArrayCells.ofDoubles(values, target, array);
      case LONG_ARRAY -> ArrayCells.ofLongs(values, target, array);
    };
  }

  private static CellWriter varchar(DecodedColumn values, Target target) {
    return switch (target.tag()) {
      case ColumnType.STRING, ColumnType.VARCHAR, ColumnType.SYMBOL ->
          TextCells.orSymbol(values::getText, target);
      case ColumnType.BINARY -> bytes(values, target);
      default -> ParsedCells.of(values, target);
    };
  }

  /** Columns of text refuse bytes; columns of numbers and times parse them as text. */
  private static CellWriter binary(DecodedColumn values, Target target) {
    return switch (target.tag()) {
      case ColumnType.STRING, ColumnType.VARCHAR, ColumnType.SYMBOL, ColumnType.CHAR -> null;
      case ColumnType.BINARY -> bytes(values, target);
      default -> ParsedCells.of(values, target);
    };
  }

  private static CellWriter bytes(DecodedColumn values, Target target) {
    return (row, i) -> row.putBin(target.index(), new Bytes(values.getBytes(i)));
  }

  /** VARCHAR gets one byte of the character, which is not UTF-8 unless the character is ASCII. */
  private static CellWriter character(DecodedColumn values, Target target) {
    int column = target.index();
    return switch (target.tag()) {
      case ColumnType.CHAR -> (row, i) -> row.putChar(column, (char) values.getLong(i));
      case ColumnType.STRING -> (row, i) -> row.putStr(column, (char) values.getLong(i));
      case ColumnType.VARCHAR ->
          (row, i) -> {
            byte[] utf8 = {(byte) values.getLong(i)};
            row.putVarchar(column, new Utf8String(utf8, utf8[0] >= 0));
          };
      default -> null;
    };
  }

  private static CellWriter uuid(DecodedColumn values, Target target) {
    return target.tag() == ColumnType.UUID
        ? (row, i) -> row.putLong128(target.index(), values.getUuidLo(i), values.getUuidHi(i))
        : TextCells.of(i -> TextCells.uuid(values, i), target);
  }

  private static CellWriter long256(DecodedColumn values, Target target) {
    return target.tag() == ColumnType.LONG256
        ? (row, i) ->
            row.putLong256(
                target.index(),
                values.getLong256(i, 0),
                values.getLong256(i, 1),
                values.getLong256(i, 2),
                values.getLong256(i, 3))
        : TextCells.of(i -> TextCells.long256(values, i), target);
  }

  private static CellWriter geohash(DecodedColumn values, Target target) {
    if (!ColumnType.isGeoHash(target.type())) {
      return TextCells.of(i -> TextCells.geohash(values, i), target);
    }
    return ColumnType.getGeoHashBits(target.type()) == values.precision()
        ? (row, i) -> row.putGeoHash(target.index(), values.getGeohash(i))
        : null;
  }

  private static CellWriter ipv4(DecodedColumn values, Target target) {
    return target.tag() == ColumnType.IPv4
        ? (row, i) -> row.putIPv4(target.index(), (int) values.getLong(i))
        : TextCells.of(i -> TextCells.ipv4(values, i), target);
  }

  /**
   * Bytes of a BINARY value. By address and length, the engine would turn an empty value into a
   * null.
   */
  private record Bytes(byte[] bytes) implements BinarySequence {
    @Override
    public byte byteAt(long index) {
      return bytes[(int) index];
    }

    @Override
    public long length() {
      return bytes.length;
    }
  }
}
