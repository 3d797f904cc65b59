package org.questdbsf.slot;

/**
 * Looks for a frame with a right checksum anywhere in the bytes behind a bad one. Such a frame
 * means that the log was damaged in its middle; none means that the last write was cut off.
 *
 * <p>Each offset may begin a frame of any plausible length, so checking candidates one by one could
 * take the square of the size. A CRC is linear: from the register after every prefix, that of any
 * range follows by one shift by the range's length, a multiplication of polynomials. One pass over
 * the bytes and a few table look-ups a candidate.
 */
final class FrameSearch {
  /** Castagnoli polynomial, bits reversed. */
  private static final int POLYNOMIAL = 0x82F63B78;

  private static final int X0 = 0x80000000; // the polynomial 1, bits reversed
  private static final int X8 = 0x00800000; // x to the 8: a shift by one byte
  private static final int STEP = 64;

  private static final int[] BYTE_TABLE = byteTable();

  /** {@code SHIFT[k][d]}: a shift by {@code d * 256^k} bytes. */
  private static final int[][] SHIFT = shiftTable();

  private final byte[] bytes;

  /** Register, begun with 0, before each {@value #STEP}th byte. */
  private final int[] registers;

  private FrameSearch(byte[] bytes) {
    this.bytes = bytes;
    this.registers = new int[bytes.length / STEP + 1];
    int register = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (i % STEP == 0) {
        registers[i / STEP] = register;
      }
      register = next(register, bytes[i]);
    }
    if (bytes.length % STEP == 0) {
      registers[bytes.length / STEP] = register;
    }
  }

  /** Offset of the first valid frame that begins at or behind an offset, −1 when there is none. */
  static int find(byte[] bytes, int from) {
    return new FrameSearch(bytes).find(from);
  }

  private int find(int from) {
    for (int at = from; at + SegmentFormat.FRAME_HEADER_BYTES < bytes.length; at++) {
      int length = intAt(at + 4);
      int room = bytes.length - at - SegmentFormat.FRAME_HEADER_BYTES;
      if (length >= 1 && length <= room) {
        int begin = at + 4;
        int end = at + SegmentFormat.FRAME_HEADER_BYTES + length;
        int crc = ~(register(end) ^ shift(register(begin) ^ ~0, end - begin));
        if (crc == intAt(at)) {
          return at;
        }
      }
    }
    return -1;
  }

  private int register(int at) {
    int register = registers[at / STEP];
    for (int i = at - at % STEP; i < at; i++) {
      register = next(register, bytes[i]);
    }
    return register;
  }

  private int intAt(int at) {
    return (bytes[at] & 0xff)
        | (bytes[at + 1] & 0xff) << 8
        | (bytes[at + 2] & 0xff) << 16
        | (bytes[at + 3] & 0xff) << 24;
  }

  private static int next(int register, byte b) {
    return BYTE_TABLE[(register ^ b) & 0xff] ^ (register >>> 8);
  }

  private static int shift(int register, int byteCount) {
    int result = register;
    for (int k = 0, n = byteCount; n != 0; k++, n >>>= 8) {
      if ((n & 0xff) != 0) {
        result = multiply(SHIFT[k][n & 0xff], result);
      }
    }
    return result;
  }

  /** Product of two polynomials modulo the CRC's. */
  private static int multiply(int a, int b) {
    int product = 0;
    int factor = b;
    for (int rest = a; rest != 0; rest <<= 1) {
      if (rest < 0) {
        product ^= factor;
      }
      factor = (factor & 1) != 0 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
    }
    return product;
  }

  private static int[] byteTable() {
    int[] table = new int[256];
    for (int i = 0; i < 256; i++) {
      int c = i;
      for (int bit = 0; bit < 8; bit++) {
        c = (c & 1) != 0 ? (c >>> 1) ^ POLYNOMIAL : c >>> 1;
      }
      table[i] = c;
    }
    return table;
  }

  private static int[][] shiftTable() {
    int[][] table = new int[4][256];
    int unit = X8;
    for (int k = 0; k < 4; k++) {
      table[k][0] = X0;
      for (int d = 1; d < 256; d++) {
        table[k][d] = multiply(unit, table[k][d - 1]);
      }
      unit = multiply(unit, table[k][255]);
    }
    return table;
  }
}
