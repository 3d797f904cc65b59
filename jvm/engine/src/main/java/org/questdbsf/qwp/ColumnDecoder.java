package org.questdbsf.qwp;

import java.util.List;

/** Reads the data of one column after the other. */
final class ColumnDecoder {
  private final Cursor in;
  private final SymbolView symbols;
  private final boolean gorilla;

  /**
   * @param symbols the connection's dictionary, or null where each symbol column brings its own
   * @param gorilla whether timestamp columns carry an encoding byte
   */
  ColumnDecoder(Cursor in, SymbolView symbols, boolean gorilla) {
    this.in = in;
    this.symbols = symbols;
    this.gorilla = gorilla;
  }

  DecodedColumn decode(String name, QwpType type, int rows) throws MalformedMessageException {
    String what = name.isEmpty() ? "the designated timestamp" : "column '" + name + "'";
    NullBits nulls = null;
    if (in.readByte(what) != 0) {
      int at = in.take((rows + 7L) >> 3, "the null bitmap of " + what);
      nulls = new NullBits(in.bytes(), at, rows);
    }
    int values = nulls == null ? rows : rows - nulls.nulls();
    DecodedColumn.Data data =
        switch (type) {
          case BOOLEAN -> fixed(0, in.take((values + 7L) >> 3, what));
          case SYMBOL -> symbols(what, values);
          case TIMESTAMP, TIMESTAMP_NANOS -> timestamps(what, type.width(), values);
          case GEOHASH -> geohashes(what, values, nulls == null);
          case DECIMAL64, DECIMAL128, DECIMAL256 -> {
            int at = in.at();
            int scale = in.readByte(what);
            if (scale > QwpLimits.MAX_DECIMAL_SCALE) {
              throw in.fault(at, what + " has scale " + scale);
            }
            yield fixed(scale, in.take((long) values * type.width(), what));
          }
          case VARCHAR, BINARY -> spans(what, values, type == QwpType.VARCHAR);
          case DOUBLE_ARRAY, LONG_ARRAY -> arrays(what, values);
          default -> fixed(0, in.take((long) values * type.width(), what));
        };
    return new DecodedColumn(name, type, rows, in.bytes(), nulls, data);
  }

  private static DecodedColumn.Data fixed(int parameter, int at) {
    return new DecodedColumn.Data(parameter, at, null, null, null);
  }

  private DecodedColumn.Data symbols(String what, int values) throws MalformedMessageException {
    List<String> local = null;
    if (symbols == null) {
      int at = in.at();
      int count = in.readVarint("the dictionary of " + what, 0, QwpLimits.MAX_SYMBOLS_READ);
      local = MessageDecoder.readStrings(in, at, count);
    }
    if (values > in.left()) {
      throw in.fault(in.at(), what + ": " + values + " symbol ids in " + in.left() + " bytes");
    }
    int size = local == null ? symbols.size() : local.size();
    String[] texts = new String[values];
    for (int i = 0; i < values; i++) {
      int id = in.readVarint("a symbol id of " + what, 0, size - 1);
      texts[i] = local == null ? symbols.text(id) : local.get(id);
    }
    return new DecodedColumn.Data(0, 0, texts, null, null);
  }

  private DecodedColumn.Data timestamps(String what, int width, int values)
      throws MalformedMessageException {
    int at = in.at();
    int encoding = gorilla ? in.readByte("the encoding of " + what) : 0;
    if (encoding > 1) {
      throw in.fault(at, what + " has the unknown encoding " + encoding);
    }
    return encoding == 0
        ? fixed(0, in.take((long) values * width, what))
        : new DecodedColumn.Data(0, 0, null, new GorillaReader(in).read(values), null);
  }

  private DecodedColumn.Data geohashes(String what, int values, boolean sentinels)
      throws MalformedMessageException {
    int precision = in.readVarint("the precision of " + what, 1, QwpLimits.MAX_GEOHASH_BITS);
    int width = (precision + 7) >> 3;
    int at = in.take((long) values * width, what);
    long nothing = Sentinels.geohash(precision);
    for (int i = 0; i < values; i++) {
      long bits = DecodedColumn.bits(in.bytes(), at + i * width, width);
      if (bits >>> precision != 0 && !(sentinels && bits == nothing)) {
        throw in.fault(at + i * width, what + " has a geohash of more than " + precision + " bits");
      }
    }
    return fixed(precision, at);
  }

  private DecodedColumn.Data spans(String what, int values, boolean text)
      throws MalformedMessageException {
    byte[] bytes = in.bytes();
    int at = in.take(4 * (values + 1L), "the offsets of " + what);
    int last = 0;
    for (int i = 0; i <= values; i++) {
      int offset = LittleEndian.getInt(bytes, at + 4 * i);
      if (i == 0 ? offset != 0 : offset < last) {
        throw in.fault(
            at + 4 * i, what + ": offset " + Integer.toUnsignedString(offset) + " after " + last);
      }
      last = offset;
    }
    int data = in.take(last, what);
    if (text) {
      in.checkUtf8(what, data, last);
      for (int i = 1; i < values; i++) {
        int offset = LittleEndian.getInt(bytes, at + 4 * i);
        if (offset < last && (bytes[data + offset] & 0xC0) == 0x80) {
          throw in.fault(at + 4 * i, what + ": offset " + offset + " is inside a character");
        }
      }
    }
    return fixed(0, at);
  }

  private DecodedColumn.Data arrays(String what, int values) throws MalformedMessageException {
    if (5L * values > in.left()) {
      throw in.fault(in.at(), what + ": " + values + " arrays in " + in.left() + " bytes");
    }
    int[] starts = new int[values];
    for (int i = 0; i < values; i++) {
      starts[i] = in.at();
      int dimensions = in.readByte(what);
      if (dimensions < 1 || dimensions > QwpLimits.MAX_ARRAY_DIMENSIONS) {
        throw in.fault(starts[i], what + " has an array of " + dimensions + " dimensions");
      }
      long elements = 1;
      for (int d = 0; d < dimensions; d++) {
        int at = in.at();
        int length = in.readInt(what);
        if (length < 0) {
          throw in.fault(
              at, what + " has a dimension of length " + Integer.toUnsignedString(length));
        }
        // Saturates far above what any message could hold, unless a zero follows.
        elements = Math.min(elements * length, Integer.MAX_VALUE);
      }
      if (elements > QwpLimits.MAX_ARRAY_ELEMENTS) {
        throw in.fault(starts[i], what + " has an array of " + elements + " elements or more");
      }
      in.take(8 * elements, what);
    }
    return new DecodedColumn.Data(0, 0, null, null, starts);
  }
}
