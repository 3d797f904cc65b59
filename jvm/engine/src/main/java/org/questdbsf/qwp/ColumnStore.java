package org.questdbsf.qwp;

/**
 * The slots of one column: one a row, a placeholder where the row is null, so that a range of rows
 * without nulls is written by one copy. One subclass per family of types. Slots are filled in
 * order; only the last may be taken back.
 */
abstract class ColumnStore {
  static ColumnStore of(QwpType type) {
    return switch (type) {
      case BOOLEAN -> new BooleanStore();
      case BYTE, SHORT, CHAR -> new FixedStore(type.width(), true);
      case INT, LONG, FLOAT, DOUBLE, TIMESTAMP, TIMESTAMP_NANOS, DATE, UUID, LONG256, IPV4 ->
          new FixedStore(type.width(), false);
      case SYMBOL -> new SymbolStore();
      case GEOHASH -> new GeohashStore();
      case DECIMAL64, DECIMAL128, DECIMAL256 -> new DecimalStore(type.width());
      case VARCHAR, BINARY -> new SpanStore();
      case DOUBLE_ARRAY, LONG_ARRAY -> new ArrayStore();
    };
  }

  /** Whether a null row is marked; where it is not, its slot is zero. */
  boolean hasNull() {
    return true;
  }

  /** Fills the slots [from, to) with placeholders; zeros where the type has no null. */
  abstract void skip(int from, int to);

  /** Takes the last slot back; it held a value, not a placeholder. */
  void drop(int slot) {}

  /** Forgets all values, keeps capacity. */
  void clear() {}

  /**
   * Whether a column with so many values in range can be written at all. Where it cannot (nobody
   * knows the precision, scale or dimensions yet, and only nulls are there) the column is left out
   * of the message, which means the same.
   */
  boolean writable(int values) {
    return true;
  }

  /** Whether a value in it would read as null if there were no bitmap. */
  boolean needsBitmap() {
    return false;
  }

  /**
   * Bytes behind the null section for the slots [from, to), of which {@code values} are not null.
   */
  abstract long bytes(NullMap nulls, int from, int to, int values);

  /** Writes what {@link #bytes} counts. */
  abstract void write(WireBuffer out, NullMap nulls, int from, int to, int values);
}
