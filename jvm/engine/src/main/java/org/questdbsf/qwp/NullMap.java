package org.questdbsf.qwp;

import java.util.Arrays;

/** Which slots of a column are null: one bit a slot. Untouched, and free, while nothing is null. */
final class NullMap {
  private long[] words = new long[4];
  private int count;

  /** Nulls in the whole column. */
  int count() {
    return count;
  }

  boolean isNull(int slot) {
    return count > 0 && slot >> 6 < words.length && (words[slot >> 6] >>> slot & 1) != 0;
  }

  /** Marks the slots [from, to), which were not null. */
  void set(int from, int to) {
    if (to > words.length * 64L) {
      words = Arrays.copyOf(words, (int) Math.max((to + 63L) >> 6, words.length * 2L));
    }
    for (int slot = from; slot < to; slot++) {
      words[slot >> 6] |= 1L << slot;
    }
    count += to - from;
  }

  /** Marks the slots from one on whose row in the source is null; they were not. */
  void set(SourceRows source, int slot) {
    int to = slot + source.rows();
    if (to > words.length * 64L) {
      words = Arrays.copyOf(words, (int) Math.max((to + 63L) >> 6, words.length * 2L));
    }
    for (int row = 0; row < source.rows(); row += 64, slot += 64) {
      long bits = source.nulls(row);
      words[slot >> 6] |= bits << slot;
      if (bits >>> 1 >>> ~slot != 0) {
        words[(slot >> 6) + 1] |= bits >>> 1 >>> ~slot;
      }
      count += Long.bitCount(bits);
    }
  }

  /** Takes one mark back. */
  void unset(int slot) {
    words[slot >> 6] &= ~(1L << slot);
    count--;
  }

  void clear() {
    if (count > 0) {
      Arrays.fill(words, 0);
      count = 0;
    }
  }

  /** Nulls among the slots [from, to). */
  int count(int from, int to) {
    if (count == 0) {
      return 0;
    }
    int nulls = 0;
    for (int slot = from; slot < to; slot += 64) {
      nulls += Long.bitCount(word(slot, to));
    }
    return nulls;
  }

  /** The first slot at or after {@code from} that is null (or is not, as asked), or {@code to}. */
  int next(boolean isNull, int from, int to) {
    for (int slot = from; slot < to; slot += 64) {
      long bits = word(slot, to);
      int found = slot + Long.numberOfTrailingZeros(isNull ? bits : ~bits);
      if (found < Math.min(to, slot + 64L)) {
        return found;
      }
    }
    return to;
  }

  /** The bitmap of the slots [from, to), first slot in the lowest bit of the first byte. */
  void write(WireBuffer out, int from, int to) {
    for (int slot = from; slot < to; slot += 64) {
      long bits = word(slot, to);
      int bytes = Math.min(8, (to - slot + 7) >> 3);
      int at = out.claim(bytes);
      for (int i = 0; i < bytes; i++) {
        out.array()[at + i] = (byte) (bits >>> (i << 3));
      }
    }
  }

  /** The 64 bits from a slot on, those at or above {@code to} zero. */
  private long word(int slot, int to) {
    int index = slot >> 6;
    long bits = index < words.length ? words[index] >>> slot : 0;
    if ((slot & 63) != 0 && index + 1 < words.length) {
      bits |= words[index + 1] << -slot;
    }
    int left = to - slot;
    return left < 64 ? bits & (1L << left) - 1 : bits;
  }
}
