package org.questdbsf.qwp;

import java.nio.ByteBuffer;

/**
 * Values of changing length in columnar memory that is not ours: their bytes one after the other,
 * and where each ends, as Arrow's binary, text and list layouts have it. Reads its buffers anew for
 * each run of rows, and checks them then: they may come from anywhere.
 */
public final class SourceSpans {
  private final ByteBuffer offsets;
  private final boolean wide;
  private final long base;
  private final ByteBuffer data;
  private final int elementBytes;
  private int[] starts = {};
  private byte[] bytes = {};

  /**
   * @param offsets one a row and one more: 32 bits, or 64 where {@code wide}
   * @param base the offset that belongs to the first byte of {@code data}
   * @param data the values
   * @param elementBytes what an offset counts: 1 for texts and binaries, 8 for lists of doubles
   */
  public SourceSpans(
      ByteBuffer offsets, boolean wide, long base, ByteBuffer data, int elementBytes) {
    this.offsets = SourceRows.littleEndian(offsets);
    this.wide = wide;
    this.base = base;
    this.data = SourceRows.littleEndian(data);
    this.elementBytes = elementBytes;
  }

  ByteBuffer data() {
    return data;
  }

  /**
   * Where each row's value begins in the data, in elements, and where the last one ends; valid
   * until the next call.
   */
  int[] starts(SourceRows rows, ColumnPlace place) {
    int count = rows.rows() + 1;
    if (starts.length < count) {
      starts = new int[count];
    }
    if (wide) {
      for (int i = 0; i < count; i++) {
        long start = offsets.getLong((rows.from() + i) << 3) - base;
        // What an int does not hold is out of bounds in any case, and found below.
        starts[i] = start == (int) start ? (int) start : -1;
      }
    } else {
      int skipped = (int) base;
      offsets
          .slice(rows.from() << 2, count << 2)
          .order(offsets.order())
          .asIntBuffer()
          .get(starts, 0, count);
      if (skipped != 0) {
        for (int i = 0; i < count; i++) {
          starts[i] -= skipped;
        }
      }
    }
    check(rows, place);
    return starts;
  }

  private void check(SourceRows rows, ColumnPlace place) {
    int last = rows.rows();
    // The sign of each difference: all of them at once is what the JIT makes fast.
    int signs = starts[0];
    for (int i = 0; i < last; i++) {
      signs |= starts[i + 1] | starts[i + 1] - starts[i];
    }
    if (signs < 0 || starts[last] > data.limit() / elementBytes) {
      for (int i = 0; i < last; i++) {
        if (starts[i] < 0
            || starts[i + 1] < starts[i]
            || starts[i + 1] > data.limit() / elementBytes) {
          place.atSourceRow(rows.number(i));
          throw place.invalid(
              "its offsets lie outside of the column's data; the source is damaged");
        }
      }
    }
  }

  /** A copy of the data between two offsets at index 0; valid until the next call. */
  byte[] bytes(int from, int to) {
    if (bytes.length < to - from) {
      bytes = new byte[Math.max(to - from, bytes.length * 2)];
    }
    data.get(from, bytes, 0, to - from);
    return bytes;
  }
}
