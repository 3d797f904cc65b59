package org.questdbsf.qwp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Values of 1, 2, 4, 8, 16 or 32 bytes, kept as the wire has them. */
class FixedStore extends ColumnStore {
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  final int width;
  private final boolean zeroForNull;
  byte[] data;

  FixedStore(int width, boolean zeroForNull) {
    this.width = width;
    this.zeroForNull = zeroForNull;
    this.data = new byte[64 * width];
  }

  /** Where the next slot begins; the room is there. */
  final int room(int slot) {
    int at = slot * width;
    if (data.length - at < width) {
      grow((slot + 1L) * width);
    }
    return at;
  }

  /** Makes room for so many slots. */
  final void roomFor(long slots) {
    if (slots * width > data.length) {
      grow(slots * width);
    }
  }

  /** Fills slots from memory that has them as they are here. */
  final void put(int slot, ByteBuffer values, int from, int slots) {
    roomFor(slot + (long) slots);
    values.get(Math.multiplyExact(from, width), data, slot * width, slots * width);
  }

  private void grow(long bytes) {
    if (bytes > MAX_BYTES) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          "a column of " + bytes + " bytes cannot be held; publish the block earlier");
    }
    data = Arrays.copyOf(data, (int) Math.min(MAX_BYTES, Math.max(bytes, data.length * 2L)));
  }

  final void putInteger(int slot, long value) {
    int at = room(slot);
    switch (width) {
      case 8 -> LittleEndian.putLong(data, at, value);
      case 4 -> LittleEndian.putInt(data, at, (int) value);
      case 2 -> LittleEndian.putShort(data, at, (short) value);
      default -> data[at] = (byte) value;
    }
  }

  final void put(int slot, long low, long high) {
    int at = room(slot);
    LittleEndian.putLong(data, at, low);
    LittleEndian.putLong(data, at + 8, high);
  }

  final void put(int slot, long l0, long l1, long l2, long l3) {
    int at = room(slot);
    LittleEndian.putLong(data, at, l0);
    LittleEndian.putLong(data, at + 8, l1);
    LittleEndian.putLong(data, at + 16, l2);
    LittleEndian.putLong(data, at + 24, l3);
  }

  @Override
  boolean hasNull() {
    return !zeroForNull;
  }

  @Override
  void skip(int from, int to) {
    roomFor(to);
    if (zeroForNull) {
      Arrays.fill(data, from * width, to * width, (byte) 0);
    }
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int values) {
    return (long) values * width;
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int values) {
    int at = out.claim((long) values * width);
    if (values == to - from) {
      System.arraycopy(data, from * width, out.array(), at, values * width);
      return;
    }
    int slot = nulls.next(false, from, to);
    while (slot < to) {
      int end = nulls.next(true, slot, to);
      int bytes = (end - slot) * width;
      System.arraycopy(data, slot * width, out.array(), at, bytes);
      at += bytes;
      slot = nulls.next(false, end, to);
    }
  }
}
