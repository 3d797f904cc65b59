package org.questdbsf.qwp;

/** Unsigned LEB128, at most 10 bytes (client spec, section on framing). */
final class Varint {
  static final int MAX_BYTES = 10;

  private Varint() {}

  /** Bytes that a value takes; negative values count as unsigned. */
  static int size(long value) {
    return value >>> 7 == 0 ? 1 : (70 - Long.numberOfLeadingZeros(value)) / 7;
  }

  /** Writes and returns the position behind; the room must be there. */
  static int put(byte[] b, int at, long value) {
    int p = at;
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      b[p++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    b[p++] = (byte) rest;
    return p;
  }
}
