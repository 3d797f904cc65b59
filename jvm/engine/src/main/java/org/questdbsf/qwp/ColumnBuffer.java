package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.questdbsf.error.ErrorCode;

/**
 * One column of a {@link TableBlock}: takes the value of the current row. A second value for the
 * same row is ignored, as in the released clients; a row that gets none is null. BOOLEAN, BYTE and
 * SHORT have no null in QuestDB: there a null row is false or 0. In CHAR it is 0, which QuestDB
 * reads as null.
 *
 * <p>A value that QuestDB cannot hold is refused with {@link ErrorCode#VALUE_INVALID}, a method
 * that does not belong to the column's type with {@link ErrorCode#TYPE_CONFLICT}; the column then
 * holds nothing for the row yet. Used by the producer thread only. After {@link
 * TableBlock#forgetColumns()} every put throws IllegalStateException.
 */
public final class ColumnBuffer {
  private static final long MAX_PLAIN_NUMBER = 1L << 53;
  private static final int NONE = Integer.MAX_VALUE;
  private static final int EARLIER = -1; // before the block was last cleared

  private final String name;
  private final byte[] nameUtf8;
  private final int ordinal;
  private final QwpType type;
  private final ColumnRows rows;
  private final TableBlock block;
  private final FixedStore fixed;
  private final ColumnPlace place;
  private final IntegerRange range;
  private final long min;
  private final long max;
  private int firstPlain = NONE; // row of the first plain whole number
  private int firstOther = NONE; // row of the first whole number that is not

  ColumnBuffer(TableBlock block, String name, byte[] nameUtf8, int ordinal, QwpType type) {
    this.block = block;
    this.name = name;
    this.nameUtf8 = nameUtf8;
    this.ordinal = ordinal;
    this.type = type;
    this.place = new ColumnPlace(block, name, type);
    this.rows = new ColumnRows(block, ColumnStore.of(type), place);
    this.fixed = rows.store() instanceof FixedStore store ? store : null;
    this.range = ordinal < 0 ? IntegerRange.designated(type) : IntegerRange.of(type);
    this.min = range.min();
    this.max = range.max();
  }

  /** The column's name as first spelled; empty for the designated timestamp. */
  public String name() {
    return name;
  }

  /** The column's type. */
  public QwpType type() {
    return type;
  }

  /** A value of a BOOLEAN column. */
  public void putBoolean(boolean value) {
    require(QwpType.BOOLEAN, "a boolean");
    putFixed(value ? 1 : 0);
  }

  /**
   * A value of a BYTE, SHORT, INT, LONG, TIMESTAMP (µs), TIMESTAMP_NANOS, DATE (ms), CHAR (UTF-16
   * unit) or IPV4 (first octet highest, 1 to 2^32 - 1) column. The lowest INT, LONG, TIMESTAMP* and
   * DATE, the CHAR 0 and the IPv4 address 0.0.0.0 are refused: QuestDB reads them as null. So are
   * halves of surrogate pairs in CHAR, which no output shows, and times before 1970 or after {@link
   * QwpLimits#MAX_DESIGNATED_MICROS} ({@code …_NANOS}) as the designated timestamp.
   */
  public void putLong(long value) {
    if (value < min || value > max) {
      throw place.outOfRange(Long.toString(value), min, max);
    }
    if (type == QwpType.CHAR && Character.isSurrogate((char) value)) {
      throw place.halfOfAPair((char) value);
    }
    putFixed(value);
  }

  /**
   * A whole number of a LONG column, from a source that has one type for all of them; see {@link
   * #holdsPlainNumbers}.
   */
  public void putWholeNumber(long value) {
    require(QwpType.LONG, "a whole number");
    boolean taken = rows.open();
    putLong(value);
    if (!taken) {
      return;
    }
    if (Math.abs(value) <= MAX_PLAIN_NUMBER && value != Integer.MIN_VALUE) {
      firstPlain = Math.min(firstPlain, block.rows());
    } else if (firstOther == NONE) {
      firstOther = block.rows();
      block.columnChanged(1);
    }
  }

  /**
   * Whether a column of any number type either takes all values so far as they are or is refused by
   * the server: all came by {@link #putWholeNumber}, none is beyond 2^53, where DOUBLE rounds, and
   * none is -2^31, which INT reads as null.
   */
  public boolean holdsPlainNumbers() {
    return firstPlain != NONE && firstOther == NONE;
  }

  /**
   * A value of a FLOAT column. QuestDB reads NaN as null, and infinities too: those are refused.
   */
  public void putFloat(float value) {
    require(QwpType.FLOAT, "a float");
    if (Float.isInfinite(value)) {
      throw place.infinite(value);
    }
    putFixed(Float.floatToRawIntBits(value));
  }

  /** A value of a DOUBLE column; as {@link #putFloat}. */
  public void putDouble(double value) {
    require(QwpType.DOUBLE, "a double");
    if (Double.isInfinite(value)) {
      throw place.infinite(value);
    }
    putFixed(Double.doubleToRawLongBits(value));
  }

  /** A value of a VARCHAR or SYMBOL column; half of a surrogate pair is refused. */
  public void putText(CharSequence text) {
    if (type == QwpType.SYMBOL) {
      if (rows.open()) {
        putSymbol(block.dictionary().idOf(text, place));
      }
      return;
    }
    require(QwpType.VARCHAR, "a text");
    if (rows.open()) {
      block.grewBy(spans().put(rows.slot(), text, place));
      rows.next();
    }
  }

  /** A value of a VARCHAR or SYMBOL column; bytes that are not UTF-8 are refused. */
  public void putUtf8(byte[] utf8, int off, int len) {
    Objects.checkFromIndexSize(off, len, utf8.length);
    if (type == QwpType.SYMBOL) {
      if (rows.open()) {
        putSymbol(block.dictionary().idOf(utf8, off, len, place));
      }
      return;
    }
    require(QwpType.VARCHAR, "a text");
    if (rows.open()) {
      int bad = Utf8.invalidAt(utf8, off, len);
      if (bad != Utf8.VALID) {
        throw place.invalid("the text is not UTF-8 at byte " + (bad - off));
      }
      spans().put(rows.slot(), utf8, off, len);
      block.grewBy(len);
      rows.next();
    }
  }

  /** As {@link #putUtf8(byte[], int, int)}, of what remains in the buffer, which stays as it is. */
  public void putUtf8(ByteBuffer utf8) {
    int len = utf8.remaining();
    if (utf8.hasArray()) {
      putUtf8(utf8.array(), utf8.arrayOffset() + utf8.position(), len);
    } else {
      byte[] copy = new byte[len];
      utf8.get(utf8.position(), copy);
      putUtf8(copy, 0, len);
    }
  }

  /** A value of a BINARY column. */
  public void putBytes(byte[] bytes, int off, int len) {
    require(QwpType.BINARY, "binary data");
    Objects.checkFromIndexSize(off, len, bytes.length);
    if (rows.open()) {
      spans().put(rows.slot(), bytes, off, len);
      block.grewBy(len);
      rows.next();
    }
  }

  /** A value of a UUID column. Both halves {@code Long.MIN_VALUE} is QuestDB's null: refused. */
  public void putUuid(long hi, long lo) {
    require(QwpType.UUID, "a UUID");
    if (hi == Long.MIN_VALUE && lo == Long.MIN_VALUE) {
      throw place.invalid("the UUID 80000000-0000-0000-8000-000000000000 is QuestDB's null");
    }
    if (rows.open()) {
      fixed.put(rows.slot(), lo, hi);
      rows.next();
    }
  }

  /**
   * A value of a LONG256 column, least significant limb first. Four times {@code Long.MIN_VALUE} is
   * QuestDB's null: refused.
   */
  public void putLong256(long l0, long l1, long l2, long l3) {
    require(QwpType.LONG256, "a LONG256");
    if (l0 == Long.MIN_VALUE && l1 == l0 && l2 == l0 && l3 == l0) {
      throw place.invalid("a LONG256 whose four limbs are the lowest long is QuestDB's null");
    }
    if (rows.open()) {
      fixed.put(rows.slot(), l0, l1, l2, l3);
      rows.next();
    }
  }

  /** A value of a GEOHASH column: its lowest 1 to 60 bits. One column has one precision. */
  public void putGeohash(long bits, int precisionBits) {
    require(QwpType.GEOHASH, "a geohash");
    if (rows.open()) {
      ((GeohashStore) fixed).put(rows.slot(), bits, precisionBits, place);
      rows.next();
    }
  }

  /**
   * A value of a DECIMAL64, DECIMAL128 or DECIMAL256 column (18, 38 or 76 digits). The first value
   * since the block was cleared fixes the scale; later ones are rescaled exactly or refused.
   */
  public void putDecimal(BigDecimal value) {
    DecimalStore decimals = decimals();
    if (rows.open()) {
      decimals.put(rows.slot(), value, place);
      rows.next();
    }
  }

  /** As {@link #putDecimal(BigDecimal)}, of the number {@code unscaled} / 10^{@code scale}. */
  public void putDecimal(long unscaled, int scale) {
    DecimalStore decimals = decimals();
    if (rows.open()) {
      decimals.put(rows.slot(), unscaled, scale, place);
      rows.next();
    }
  }

  /**
   * A value of a DOUBLE_ARRAY column: row-major elements and the length of each dimension. Elements
   * are as in {@link #putDouble}.
   */
  public void putDoubleArray(double[] flat, int[] shape) {
    require(QwpType.DOUBLE_ARRAY, "an array of doubles");
    if (rows.open()) {
      block.grewBy(((ArrayStore) rows.store()).put(rows.slot(), flat, shape, place));
      rows.next();
    }
  }

  /** Sets the row to null, as if nothing had been put; later values for the row are ignored. */
  public void putNull() {
    if (rows.open()) {
      rows.nextNull();
    }
  }

  /** Forgets the value of the current row, and what it said of the column. */
  void cancel() {
    rows.cancel();
    if (firstPlain == block.rows()) {
      firstPlain = NONE;
    }
    if (firstOther == block.rows()) {
      firstOther = NONE;
      block.columnChanged(-1);
    }
  }

  /** Forgets all values, but not what those of ended rows said of the column. */
  void clear() {
    cancel();
    rows.clear();
    firstPlain = firstPlain == NONE ? NONE : EARLIER;
    firstOther = firstOther == NONE ? NONE : EARLIER;
  }

  byte[] nameUtf8() {
    return nameUtf8;
  }

  /** Place among the block's columns; -1 for the designated timestamp. */
  int ordinal() {
    return ordinal;
  }

  TableBlock block() {
    return block;
  }

  ColumnRows rows() {
    return rows;
  }

  IntegerRange range() {
    return range;
  }

  ColumnPlace place() {
    return place;
  }

  private void putFixed(long bits) {
    if (rows.open()) {
      fixed.putInteger(rows.slot(), bits);
      rows.next();
    }
  }

  private void putSymbol(int id) {
    block.grewBy(block.dictionary().encodedBytes(id, id + 1));
    ((SymbolStore) fixed).put(rows.slot(), id);
    rows.next();
  }

  private SpanStore spans() {
    return (SpanStore) rows.store();
  }

  private DecimalStore decimals() {
    if (fixed instanceof DecimalStore decimals) {
      return decimals;
    }
    throw place.mistyped("a decimal");
  }

  private void require(QwpType expected, String given) {
    if (type != expected) {
      throw place.mistyped(given);
    }
  }
}
