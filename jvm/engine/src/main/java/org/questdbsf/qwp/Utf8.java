package org.questdbsf.qwp;

/** Strict UTF-8: text to bytes without replacement characters, and the check of given bytes. */
final class Utf8 {
  /** What the check answers for valid bytes. */
  static final int VALID = -1;

  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** An upper bound of the bytes of a text. */
  static long maxBytes(CharSequence text) {
    return 3L * text.length();
  }

  /**
   * Writes a text; the room of {@link #maxBytes} must be there. Returns the position behind it, or
   * {@code -1 - index} where the character at index is half of a surrogate pair: a replacement
   * would make two texts one.
   */
  static int encode(CharSequence text, byte[] b, int at) {
    int n = text.length();
    int p = at;
    for (int i = 0; i < n; i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        b[p++] = (byte) c;
      } else if (c < 0x800) {
        b[p++] = (byte) (0xC0 | c >> 6);
        b[p++] = (byte) (0x80 | c & 0x3F);
      } else if (!Character.isSurrogate(c)) {
        b[p++] = (byte) (0xE0 | c >> 12);
        b[p++] = (byte) (0x80 | c >> 6 & 0x3F);
        b[p++] = (byte) (0x80 | c & 0x3F);
      } else {
        if (Character.isLowSurrogate(c)
            || i + 1 == n
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          return -1 - i;
        }
        int point = Character.toCodePoint(c, text.charAt(++i));
        b[p++] = (byte) (0xF0 | point >> 18);
        b[p++] = (byte) (0x80 | point >> 12 & 0x3F);
        b[p++] = (byte) (0x80 | point >> 6 & 0x3F);
        b[p++] = (byte) (0x80 | point & 0x3F);
      }
    }
    return p;
  }

  /** Whether all bytes are below 0x80. */
  static boolean isAscii(byte[] b, int off, int len) {
    long high = 0;
    int p = off;
    for (int end = off + len - 7; p < end; p += 8) {
      high |= LittleEndian.getLong(b, p);
    }
    for (; p < off + len; p++) {
      high |= b[p];
    }
    return (high & HIGH_BITS) == 0;
  }

  /**
   * {@link #VALID}, or the position in the array of the first byte of a sequence that is not UTF-8
   * (overlong forms, surrogates, values above U+10FFFF and cut sequences included).
   */
  static int invalidAt(byte[] b, int off, int len) {
    int end = off + len;
    int p = off;
    while (p < end) {
      if (end - p >= 8 && (LittleEndian.getLong(b, p) & HIGH_BITS) == 0) {
        p += 8;
      } else if (b[p] >= 0) {
        p++;
      } else {
        int size = sequence(b, p, end);
        if (size == 0) {
          return p;
        }
        p += size;
      }
    }
    return VALID;
  }

  /** Bytes of the valid sequence that begins here with a byte above 0x7F, or 0. */
  private static int sequence(byte[] b, int p, int end) {
    int first = b[p] & 0xFF;
    if (first < 0xC2 || first > 0xF4) {
      return 0;
    }
    int size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (end - p < size) {
      return 0;
    }
    for (int i = 1; i < size; i++) {
      if ((b[p + i] & 0xC0) != 0x80) {
        return 0;
      }
    }
    int second = b[p + 1] & 0xFF;
    boolean good =
        switch (first) {
          case 0xE0 -> second >= 0xA0;
          case 0xED -> second < 0xA0;
          case 0xF0 -> second >= 0x90;
          case 0xF4 -> second < 0x90;
          default -> true;
        };
    return good ? size : 0;
  }
}
