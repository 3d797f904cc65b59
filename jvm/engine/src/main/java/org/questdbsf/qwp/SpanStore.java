package org.questdbsf.qwp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Texts and binaries: bytes one after the other, and where each ends; a null has none. */
class SpanStore extends ColumnStore {
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  byte[] data = new byte[1024];
  private int[] ends = new int[64];
  private int used;

  /** Fills a slot; returns the bytes of the text. */
  int put(int slot, CharSequence text, ColumnPlace place) {
    int at = room(Utf8.maxBytes(text));
    int end = Utf8.encode(text, data, at);
    if (end < 0) {
      throw place.invalid("the text has half of a surrogate pair at character " + (-1 - end));
    }
    end(slot, end);
    return end - at;
  }

  void put(int slot, byte[] bytes, int off, int len) {
    int at = room(len);
    System.arraycopy(bytes, off, data, at, len);
    end(slot, at + len);
  }

  /**
   * Fills slots from values that lie one after the other.
   *
   * @param starts where each begins in {@code from}, and where the last ends
   * @return where they begin here
   */
  int put(int slot, ByteBuffer from, int[] starts, int slots) {
    int first = starts[0];
    int at = room(starts[slots] - first);
    from.get(first, data, at, starts[slots] - first);
    if (slot + slots > ends.length) {
      ends = Arrays.copyOf(ends, Math.max(slot + slots, ends.length * 2));
    }
    int shift = at - first;
    for (int i = 0; i < slots; i++) {
      ends[slot + i] = starts[i + 1] + shift;
    }
    used = starts[slots] + shift;
    return at;
  }

  /** Where the next value begins; so many bytes are free there. */
  final int room(long bytes) {
    long end = used + bytes;
    if (end > data.length) {
      if (end > MAX_BYTES) {
        throw new SfException(
            ErrorCode.LIMIT_EXCEEDED,
            "a column of " + end + " bytes cannot be held; publish the block earlier");
      }
      data = Arrays.copyOf(data, (int) Math.min(MAX_BYTES, Math.max(end, data.length * 2L)));
    }
    return used;
  }

  /** The value of a slot was written and ends here. */
  final void end(int slot, int end) {
    if (slot == ends.length) {
      ends = Arrays.copyOf(ends, ends.length * 2);
    }
    ends[slot] = end;
    used = end;
  }

  private int start(int slot) {
    return slot == 0 ? 0 : ends[slot - 1];
  }

  /** Bytes of the values of the slots [from, to). */
  final int span(int from, int to) {
    return from == to ? 0 : ends[to - 1] - start(from);
  }

  @Override
  void skip(int from, int to) {
    if (to > ends.length) {
      ends = Arrays.copyOf(ends, Math.max(to, ends.length * 2));
    }
    Arrays.fill(ends, from, to, used);
  }

  @Override
  void drop(int slot) {
    used = start(slot);
  }

  @Override
  void clear() {
    used = 0;
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int values) {
    return 4L * (values + 1L) + span(from, to);
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int values) {
    int base = start(from);
    int at = out.claim(4L * (values + 1L));
    byte[] target = out.array();
    LittleEndian.putInt(target, at, 0);
    for (int slot = nulls.next(false, from, to); slot < to; ) {
      int end = nulls.next(true, slot, to);
      for (; slot < end; slot++) {
        at += 4;
        LittleEndian.putInt(target, at, ends[slot] - base);
      }
      slot = nulls.next(false, end, to);
    }
    writeSpan(out, from, to);
  }

  final void writeSpan(WireBuffer out, int from, int to) {
    out.putBytes(data, start(from), span(from, to));
  }
}
