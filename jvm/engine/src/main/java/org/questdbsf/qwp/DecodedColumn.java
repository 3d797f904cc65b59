package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;

/**
 * The values of one decoded column, by row. A getter throws IllegalStateException for a row that is
 * null by bitmap and for a column of another type; for a row that is null by sentinel it returns
 * the sentinel. Immutable.
 */
public final class DecodedColumn {
  /**
   * Where the values are.
   *
   * @param parameter precision or scale
   * @param at position of fixed-width values, or of the offsets of texts and binaries
   * @param symbols texts of symbols
   * @param timestamps values that were compressed
   * @param arrays position of each array
   */
  record Data(int parameter, int at, String[] symbols, long[] timestamps, int[] arrays) {}

  private final String name;
  private final QwpType type;
  private final int rows;
  private final byte[] bytes;
  private final NullBits nulls;
  private final int values;
  private final Data data;

  DecodedColumn(String name, QwpType type, int rows, byte[] bytes, NullBits nulls, Data data) {
    this.name = name;
    this.type = type;
    this.rows = rows;
    this.bytes = bytes;
    this.nulls = nulls;
    this.values = nulls == null ? rows : rows - nulls.nulls();
    this.data = data;
  }

  /** The column's name; empty for the designated timestamp. */
  public String name() {
    return name;
  }

  /** The column's type. */
  public QwpType type() {
    return type;
  }

  /** Rows, nulls included. */
  public int rows() {
    return rows;
  }

  /**
   * Whether a row is null: by the bitmap, or where there is none by the value that stands for null
   * (lowest INT, LONG, TIMESTAMP*, DATE; NaN; IPv4 0.0.0.0; geohash of all ones; UUID and LONG256
   * of lowest longs). BOOLEAN, BYTE, SHORT and CHAR have no such value.
   */
  public boolean isNull(int row) {
    Objects.checkIndex(row, rows);
    if (nulls != null) {
      return nulls.isNull(row);
    }
    return Sentinels.isNull(this, row);
  }

  /** Whether a bitmap tells which rows are null, not a value that stands for null. */
  public boolean hasBitmap() {
    return nulls != null;
  }

  /** A BOOLEAN. */
  public boolean getBoolean(int row) {
    require(QwpType.BOOLEAN);
    int index = index(row);
    return (bytes[data.at() + (index >> 3)] >>> (index & 7) & 1) != 0;
  }

  /** A BYTE, SHORT, INT, LONG, TIMESTAMP*, DATE, CHAR or IPV4, the last two unsigned. */
  public long getLong(int row) {
    return switch (type) {
      case BYTE -> bytes[position(row, 1)];
      case SHORT -> LittleEndian.getShort(bytes, position(row, 2));
      case CHAR -> LittleEndian.getShort(bytes, position(row, 2)) & 0xFFFFL;
      case INT -> LittleEndian.getInt(bytes, position(row, 4));
      case IPV4 -> LittleEndian.getInt(bytes, position(row, 4)) & 0xFFFF_FFFFL;
      case LONG, DATE -> LittleEndian.getLong(bytes, position(row, 8));
      case TIMESTAMP, TIMESTAMP_NANOS ->
          data.timestamps() != null
              ? data.timestamps()[index(row)]
              : LittleEndian.getLong(bytes, position(row, 8));
      default -> throw mistyped();
    };
  }

  /** A FLOAT. */
  public float getFloat(int row) {
    require(QwpType.FLOAT);
    return Float.intBitsToFloat(LittleEndian.getInt(bytes, position(row, 4)));
  }

  /** A DOUBLE or FLOAT. */
  public double getDouble(int row) {
    if (type == QwpType.FLOAT) {
      return getFloat(row);
    }
    require(QwpType.DOUBLE);
    return Double.longBitsToDouble(LittleEndian.getLong(bytes, position(row, 8)));
  }

  /** A VARCHAR or SYMBOL. */
  public String getText(int row) {
    if (type == QwpType.SYMBOL) {
      return data.symbols()[index(row)];
    }
    require(QwpType.VARCHAR);
    int index = index(row);
    int from = spanStart(index);
    return new String(bytes, from, spanStart(index + 1) - from, StandardCharsets.UTF_8);
  }

  /** The bytes of a BINARY, or the UTF-8 of a VARCHAR. */
  public byte[] getBytes(int row) {
    if (type != QwpType.BINARY) {
      require(QwpType.VARCHAR);
    }
    int index = index(row);
    return Arrays.copyOfRange(bytes, spanStart(index), spanStart(index + 1));
  }

  private int spanStart(int index) {
    int offsets = data.at();
    return offsets + 4 * (values + 1) + LittleEndian.getInt(bytes, offsets + 4 * index);
  }

  /** The high half of a UUID: its first 16 hexadecimal digits. */
  public long getUuidHi(int row) {
    require(QwpType.UUID);
    return LittleEndian.getLong(bytes, position(row, 16) + 8);
  }

  /** The low half of a UUID. */
  public long getUuidLo(int row) {
    require(QwpType.UUID);
    return LittleEndian.getLong(bytes, position(row, 16));
  }

  /** One of the four limbs of a LONG256, 0 the least significant. */
  public long getLong256(int row, int limb) {
    require(QwpType.LONG256);
    return LittleEndian.getLong(bytes, position(row, 32) + 8 * Objects.checkIndex(limb, 4));
  }

  /** The bits of a GEOHASH, {@link #precision()} of them. */
  public long getGeohash(int row) {
    require(QwpType.GEOHASH);
    return bits(bytes, position(row, geohashBytes()), geohashBytes());
  }

  /** Bits of the geohashes of a GEOHASH column. */
  public int precision() {
    require(QwpType.GEOHASH);
    return data.parameter();
  }

  private int geohashBytes() {
    return (data.parameter() + 7) >> 3;
  }

  /** A DECIMAL64, DECIMAL128 or DECIMAL256, with the column's scale. */
  public BigDecimal getDecimal(int row) {
    int scale = scale();
    int at = position(row, type.width());
    byte[] bigEndian = new byte[type.width()];
    for (int i = 0; i < bigEndian.length; i++) {
      bigEndian[bigEndian.length - 1 - i] = bytes[at + i];
    }
    return new BigDecimal(new BigInteger(bigEndian), scale);
  }

  /** Scale of the decimals of a DECIMAL column. */
  public int scale() {
    if (!EnumSet.range(QwpType.DECIMAL64, QwpType.DECIMAL256).contains(type)) {
      throw mistyped();
    }
    return data.parameter();
  }

  /** The length of each dimension of an array. */
  public int[] getShape(int row) {
    int at = arrayAt(row);
    int[] shape = new int[bytes[at]];
    for (int i = 0; i < shape.length; i++) {
      shape[i] = LittleEndian.getInt(bytes, at + 1 + 4 * i);
    }
    return shape;
  }

  /** The elements of a DOUBLE_ARRAY value, row-major. */
  public double[] getDoubleArray(int row) {
    require(QwpType.DOUBLE_ARRAY);
    return Arrays.stream(elements(row)).mapToDouble(Double::longBitsToDouble).toArray();
  }

  /** The elements of a LONG_ARRAY value, row-major. */
  public long[] getLongArray(int row) {
    require(QwpType.LONG_ARRAY);
    return elements(row);
  }

  private long[] elements(int row) {
    int at = arrayAt(row) + 1;
    int count = 1;
    for (int length : getShape(row)) {
      count *= length;
      at += 4;
    }
    long[] elements = new long[count];
    for (int i = 0; i < count; i++) {
      elements[i] = LittleEndian.getLong(bytes, at + 8 * i);
    }
    return elements;
  }

  private int arrayAt(int row) {
    if (data.arrays() == null) {
      throw mistyped();
    }
    return data.arrays()[index(row)];
  }

  /** A little-endian number of 1 to 8 bytes. */
  static long bits(byte[] b, int at, int width) {
    long bits = 0;
    for (int i = width - 1; i >= 0; i--) {
      bits = bits << 8 | b[at + i] & 0xFF;
    }
    return bits;
  }

  private int position(int row, int width) {
    return data.at() + index(row) * width;
  }

  private int index(int row) {
    Objects.checkIndex(row, rows);
    if (nulls == null) {
      return row;
    }
    if (nulls.isNull(row)) {
      throw new IllegalStateException("row " + row + " of column '" + name + "' is null");
    }
    return nulls.valueIndex(row);
  }

  private void require(QwpType expected) {
    if (type != expected) {
      throw mistyped();
    }
  }

  private IllegalStateException mistyped() {
    return new IllegalStateException("column '" + name + "' is " + type);
  }
}
