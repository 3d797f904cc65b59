package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.arr.DirectArray;
import io.questdb.std.str.Utf8String;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.testserver.CellWriter.ValueRefusedException;

/**
 * Which wire types a column of the table takes, and how.
 *
 * <p>Rule: a value arrives unchanged or is refused. Same type to same type; numbers also to other
 * numbers that hold them exactly ({@link NumberCells}); text and symbols to VARCHAR, STRING, SYMBOL
 * and, one unit long, CHAR; DATE, micros and nanos to each other's timestamps ({@link TimeCells}).
 * Arrays need the same element type and dimensions, geohashes the same precision.
 */
final class CellWriters {
  private CellWriters() {}

  /**
   * The writer for values of a wire column into a column of this type, or null if the types do not
   * fit.
   *
   * @param array scratch for array values, open until the last put
   */
  static CellWriter of(DecodedColumn values, int column, int type, DirectArray array) {
    short tag = ColumnType.tagOf(type);
    return switch (values.type()) {
      case BOOLEAN ->
          tag != ColumnType.BOOLEAN ? null : (row, i) -> row.putBool(column, values.getBoolean(i));
      case BYTE, SHORT, INT, LONG -> NumberCells.integer(values, column, type);
      case FLOAT, DOUBLE -> NumberCells.floating(values, column, type);
      case DECIMAL64, DECIMAL128, DECIMAL256 -> NumberCells.decimal(values, column, type);
      case SYMBOL, VARCHAR -> text(values, column, tag);
      case TIMESTAMP, TIMESTAMP_NANOS, DATE -> TimeCells.of(values, column, type);
      case UUID ->
          tag != ColumnType.UUID
              ? null
              : (row, i) -> row.putLong128(column, values.getUuidLo(i), values.getUuidHi(i));
      case LONG256 ->
          tag != ColumnType.LONG256
              ? null
              : (row, i) ->
                  row.putLong256(
                      column,
                      values.getLong256(i, 0),
                      values.getLong256(i, 1),
                      values.getLong256(i, 2),
                      values.getLong256(i, 3));
      case GEOHASH ->
          !ColumnType.isGeoHash(type) || ColumnType.getGeoHashBits(type) != values.precision()
              ? null
              : (row, i) -> row.putGeoHash(column, values.getGeohash(i));
      case CHAR -> character(values, column, tag);
      case BINARY ->
          tag != ColumnType.BINARY
              ? null
              : (row, i) -> row.putBin(column, new Bytes(values.getBytes(i)));
      case IPV4 ->
          tag != ColumnType.IPv4 ? null : (row, i) -> row.putIPv4(column, (int) values.getLong(i));
      case DOUBLE_ARRAY -> array(values, column, type, ColumnType.DOUBLE, array);
      case LONG_ARRAY -> array(values, column, type, ColumnType.LONG, array);
    };
  }

  private static CellWriter text(DecodedColumn values, int column, short tag) {
    return switch (tag) {
      case ColumnType.SYMBOL -> (row, i) -> row.putSym(column, values.getText(i));
      case ColumnType.STRING -> (row, i) -> row.putStr(column, values.getText(i));
      case ColumnType.VARCHAR ->
          (row, i) -> row.putVarchar(column, new Utf8String(values.getText(i)));
      case ColumnType.CHAR ->
          (row, i) -> {
            String text = values.getText(i);
            if (text.length() != 1) {
              throw new ValueRefusedException("a text of " + text.length() + " units");
            }
            row.putChar(column, text.charAt(0));
          };
      default -> null;
    };
  }

  private static CellWriter character(DecodedColumn values, int column, short tag) {
    return switch (tag) {
      case ColumnType.CHAR -> (row, i) -> row.putChar(column, (char) values.getLong(i));
      case ColumnType.STRING ->
          (row, i) -> row.putStr(column, Character.toString((char) values.getLong(i)));
      case ColumnType.VARCHAR ->
          (row, i) ->
              row.putVarchar(column, new Utf8String(Character.toString((char) values.getLong(i))));
      default -> null;
    };
  }

  private static CellWriter array(
      DecodedColumn values, int column, int type, short element, DirectArray array) {
    if (!ColumnType.isArray(type) || ColumnType.decodeArrayElementType(type) != element) {
      return null;
    }
    int dimensions = ColumnType.decodeArrayDimensionality(type);
    return (row, i) -> {
      int[] shape = values.getShape(i);
      if (shape.length != dimensions) {
        throw new ValueRefusedException("an array of " + shape.length + " dimensions");
      }
      array.setType(type);
      for (int d = 0; d < dimensions; d++) {
        array.setDimLen(d, shape[d]);
      }
      array.applyShape();
      if (element == ColumnType.DOUBLE) {
        double[] flat = values.getDoubleArray(i);
        for (int k = 0; k < flat.length; k++) {
          array.putDouble(k, flat[k]);
        }
      } else {
        long[] flat = values.getLongArray(i);
        for (int k = 0; k < flat.length; k++) {
          array.putLong(k, flat[k]);
        }
      }
      row.putArray(column, array);
    };
  }

  /**
   * Bytes of a BINARY value. By address and length, the engine would turn an empty value into a
   * null.
   */
  private record Bytes(byte[] bytes) implements io.questdb.std.BinarySequence {
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
