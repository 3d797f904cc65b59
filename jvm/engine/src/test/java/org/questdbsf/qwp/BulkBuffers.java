package org.questdbsf.qwp;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Foreign memory for the tests of what is filled in bulk. */
final class BulkBuffers {
  private BulkBuffers() {}

  static void putNumber(ByteBuffer numbers, int at, int width, BigInteger value) {
    for (int i = 0; i < width; i++) {
      numbers.put(at + i, value.shiftRight(8 * i).byteValue());
    }
  }

  static void putOffset(ByteBuffer offsets, boolean wide, int index, long value) {
    if (wide) {
      offsets.putLong(index * 8, value);
    } else {
      offsets.putInt(index * 4, (int) value);
    }
  }

  static ByteBuffer longs(long... values) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(values.length * 8).order(ByteOrder.LITTLE_ENDIAN);
    for (long value : values) {
      buffer.putLong(value);
    }
    return buffer.flip();
  }

  static ByteBuffer ints(int... values) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(values.length * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (int value : values) {
      buffer.putInt(value);
    }
    return buffer.flip();
  }
}
