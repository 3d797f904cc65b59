package org.questdbsf.qwp;

import java.util.Arrays;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** A growing byte array that a message is written into; keeps its capacity. */
final class WireBuffer {
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  private static final int DEFAULT_BYTES = 16 * 1024;

  private byte[] bytes;
  private int length;

  WireBuffer() {
    this(DEFAULT_BYTES);
  }

  /**
   * @param capacity bytes that fit before it grows
   */
  WireBuffer(int capacity) {
    bytes = new byte[capacity];
  }

  byte[] array() {
    return bytes;
  }

  int length() {
    return length;
  }

  void clear() {
    length = 0;
  }

  /** Makes room for so many bytes and counts them as written; returns where they begin. */
  int claim(long count) {
    long end = length + count;
    if (end > bytes.length) {
      grow(end);
    }
    int at = length;
    length = (int) end;
    return at;
  }

  /** Gives back what was claimed behind a position. */
  void cut(int end) {
    length = end;
  }

  private void grow(long end) {
    if (end > MAX_BYTES) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          "a message of " + end + " bytes cannot be made; publish fewer rows at a time");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_BYTES, Math.max(end, bytes.length * 2L)));
  }

  void putByte(int value) {
    int at = claim(1);
    bytes[at] = (byte) value;
  }

  void putVarint(long value) {
    int at = claim(Varint.size(value));
    Varint.put(bytes, at, value);
  }

  void putBytes(byte[] source, int off, int len) {
    int at = claim(len);
    System.arraycopy(source, off, bytes, at, len);
  }

  /** A string of the wire: length in bytes, then the bytes. */
  void putString(byte[] utf8) {
    putVarint(utf8.length);
    putBytes(utf8, 0, utf8.length);
  }
}
