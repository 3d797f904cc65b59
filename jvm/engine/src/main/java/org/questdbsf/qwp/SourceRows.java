package org.questdbsf.qwp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A run of rows in columnar memory that is not ours: where it begins there, how long it is, and
 * which rows are null. Nulls are told as Arrow does: one bit a row, set where there is a value,
 * first row in the lowest bit of the first byte.
 */
public final class SourceRows {
  private final ByteBuffer validity;
  private final int from;
  private final int rows;
  private final long number;

  /**
   * @param validity the bitmap, or null where every row has a value
   * @param from index of the first row in the bitmap, and in the buffers of values
   * @param rows number of rows
   * @param number what messages call the first row
   * @throws IndexOutOfBoundsException where the bitmap ends before the rows do
   */
  public SourceRows(ByteBuffer validity, int from, int rows, long number) {
    this.validity = validity == null ? null : littleEndian(validity);
    this.from = from;
    this.rows = rows;
    this.number = number;
    if (from < 0 || rows < 0) {
      throw new IndexOutOfBoundsException(rows + " rows from " + from);
    }
    if (validity != null && validity.limit() < (from + (long) rows + 7) >> 3) {
      throw new IndexOutOfBoundsException(
          "a bitmap of " + validity.limit() + " bytes for the rows " + from + ".." + (from + rows));
    }
  }

  /** The buffer as all sources are read: from its start to its limit, in Arrow's byte order. */
  static ByteBuffer littleEndian(ByteBuffer buffer) {
    return buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The rows [at, at + count) of these, {@code at} counted from the first. */
  public SourceRows part(int at, int count) {
    return new SourceRows(validity, from + at, count, number + at);
  }

  /** As many rows with the same numbers, in other buffers. */
  public SourceRows of(ByteBuffer otherValidity, int otherFrom) {
    return new SourceRows(otherValidity, otherFrom, rows, number);
  }

  /** Index of the first row in the buffers of values. */
  int from() {
    return from;
  }

  /** How many rows. */
  public int rows() {
    return rows;
  }

  /** What messages call the first row. */
  public long firstNumber() {
    return number;
  }

  /** What messages call a row. */
  long number(int row) {
    return number + row;
  }

  /** The first null row, or −1. */
  public int firstNull() {
    for (int row = 0; row < rows && validity != null; row += 64) {
      long bits = nulls(row);
      if (bits != 0) {
        return row + Long.numberOfTrailingZeros(bits);
      }
    }
    return -1;
  }

  boolean hasNulls() {
    return firstNull() >= 0;
  }

  boolean isNull(int row) {
    int bit = from + row;
    return validity != null && (validity.get(bit >> 3) >>> (bit & 7) & 1) == 0;
  }

  /** A bit for each of the 64 rows from one on: set where it is null; zero behind the last row. */
  long nulls(int row) {
    if (validity == null) {
      return 0;
    }
    int bit = from + row;
    int at = bit >> 3;
    int shift = bit & 7;
    long values;
    if (validity.limit() - at > 8) {
      values = validity.getLong(at) >>> shift;
      if (shift > 0) {
        values |= (long) validity.get(at + 8) << 64 - shift;
      }
    } else {
      values = 0;
      for (int i = 0; at + i < validity.limit(); i++) {
        values |= (validity.get(at + i) & 0xFFL) << (i << 3);
      }
      values >>>= shift;
    }
    int left = rows - row;
    return left < 64 ? ~values & (1L << left) - 1 : ~values;
  }
}
