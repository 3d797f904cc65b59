package org.questdbsf.qwp;

/** The null bitmap of a decoded column, with the place of each row's value among the values. */
final class NullBits {
  private final byte[] bytes;
  private final int at;
  private final int[] nullsBefore;
  private final int nulls;

  /** Reads the bitmap of so many rows at a position; the bytes are there. */
  NullBits(byte[] bytes, int at, int rows) {
    this.bytes = bytes;
    this.at = at;
    this.nullsBefore = new int[(rows + 63) >> 6];
    int sum = 0;
    for (int i = 0; i < nullsBefore.length; i++) {
      nullsBefore[i] = sum;
      int end = Math.min(rows, (i + 1) << 6);
      sum += count(i << 6, end);
    }
    this.nulls = sum;
  }

  int nulls() {
    return nulls;
  }

  boolean isNull(int row) {
    return (bytes[at + (row >> 3)] >>> (row & 7) & 1) != 0;
  }

  /** The index of a row's value; the row is not null. */
  int valueIndex(int row) {
    int block = row >> 6;
    return row - nullsBefore[block] - count(block << 6, row);
  }

  /** Nulls among the rows [from, to); {@code from} is the first of a byte. */
  private int count(int from, int to) {
    int sum = 0;
    int row = from;
    for (; to - row >= 8; row += 8) {
      sum += Integer.bitCount(bytes[at + (row >> 3)] & 0xFF);
    }
    if (row < to) {
      sum += Integer.bitCount(bytes[at + (row >> 3)] & (1 << (to - row)) - 1);
    }
    return sum;
  }
}
