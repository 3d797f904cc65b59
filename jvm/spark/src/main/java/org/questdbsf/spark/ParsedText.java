package org.questdbsf.spark;

import java.nio.charset.StandardCharsets;
import org.questdbsf.error.SfException;

/**
 * Values in text form, from their UTF-8 bytes. Strict: what is not exactly in the form that is
 * named is an error that shows the text.
 */
final class ParsedText {
  private static final int UUID_LENGTH = 36;
  private static final int LONG256_DIGITS = 64;
  private static final String BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz";
  private static final byte[] BASE32_VALUES = new byte[128];
  private static final int SHOWN = 60;

  static {
    java.util.Arrays.fill(BASE32_VALUES, (byte) -1);
    for (int i = 0; i < BASE32.length(); i++) {
      BASE32_VALUES[BASE32.charAt(i)] = (byte) i;
      BASE32_VALUES[Character.toUpperCase(BASE32.charAt(i))] = (byte) i;
    }
  }

  private ParsedText() {}

  /** The one UTF-16 unit of a text. */
  static int charOf(byte[] b, int off, int len) {
    int first = len == 0 ? -1 : b[off];
    int size = len == 0 ? 0 : first >= 0 ? 1 : (first & 0xE0) == 0xC0 ? 2 : 3;
    boolean whole = len > 0 && len == size && ((first & 0xF0) == 0xE0 || size < 3);
    for (int i = 1; whole && i < size; i++) {
      whole = (b[off + i] & 0xC0) == 0x80;
    }
    if (!whole) {
      throw malformed(b, off, len, "one character of the basic plane (CHAR)");
    }
    int unit =
        switch (size) {
          case 1 -> first;
          case 2 -> (first & 0x1F) << 6 | (b[off + 1] & 0x3F);
          default -> (first & 0x0F) << 12 | (b[off + 1] & 0x3F) << 6 | (b[off + 2] & 0x3F);
        };
    boolean overlong = size > 1 && unit < (size == 2 ? 0x80 : 0x800);
    if (overlong || Character.isSurrogate((char) unit)) {
      throw malformed(b, off, len, "one character of the basic plane (CHAR)");
    }
    return unit;
  }

  /** The first 64 bits of a UUID in its 36-character form. */
  static long uuidHigh(byte[] b, int off, int len) {
    checkUuid(b, off, len);
    return hex(b, off, 0, 8) << 32 | hex(b, off, 9, 13) << 16 | hex(b, off, 14, 18);
  }

  /** The last 64 bits. */
  static long uuidLow(byte[] b, int off, int len) {
    return hex(b, off, 19, 23) << 48 | hex(b, off, 24, 36);
  }

  private static void checkUuid(byte[] b, int off, int len) {
    boolean ok = len == UUID_LENGTH;
    for (int i = 0; ok && i < UUID_LENGTH; i++) {
      boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
      ok = dash ? b[off + i] == '-' : digit(b[off + i]) >= 0;
    }
    if (!ok) {
      throw malformed(b, off, len, "a UUID of 36 characters");
    }
  }

  /** An address in dotted form, as an unsigned 32-bit number. */
  static long ipv4(byte[] b, int off, int len) {
    long address = 0;
    int part = -1;
    int parts = 0;
    boolean ok = len >= 7 && len <= 15;
    for (int i = 0; ok && i <= len; i++) {
      int c = i == len ? '.' : b[off + i];
      if (c == '.') {
        ok = part >= 0 && part <= 255;
        address = address << 8 | part;
        parts++;
        part = -1;
      } else {
        ok = c >= '0' && c <= '9' && part != 0; // no leading zero
        part = (part < 0 ? 0 : part * 10) + c - '0';
      }
    }
    if (!ok || parts != 4) {
      throw malformed(b, off, len, "an IPv4 address such as 192.168.1.10");
    }
    return address;
  }

  /** A number of {@code 0x} and up to 64 hex digits, as limbs, least significant first. */
  static long[] long256(byte[] b, int off, int len) {
    int digits = len - 2;
    boolean ok = digits >= 1 && digits <= LONG256_DIGITS && b[off] == '0';
    ok = ok && (b[off + 1] == 'x' || b[off + 1] == 'X');
    long[] limbs = new long[4];
    for (int i = 0; ok && i < digits; i++) {
      int value = digit(b[off + len - 1 - i]);
      ok = value >= 0;
      limbs[i / 16] |= (long) value << 4 * (i % 16);
    }
    if (!ok) {
      throw malformed(b, off, len, "a LONG256 of 0x and up to 64 hex digits");
    }
    return limbs;
  }

  /** A geohash of that many bits: base-32 characters, or where that cannot be, 0 and 1. */
  static long geohash(byte[] b, int off, int len, int bits) {
    int width = len == bits && bits % 5 != 0 ? 1 : 5;
    boolean ok = len * width == bits;
    long hash = 0;
    for (int i = 0; ok && i < len; i++) {
      int c = b[off + i];
      int value = width == 1 ? c - '0' : c < 0 ? -1 : BASE32_VALUES[c];
      ok = value >= 0 && value < 1 << width;
      hash = hash << width | value;
    }
    if (!ok) {
      throw malformed(
          b,
          off,
          len,
          bits % 5 == 0
              ? "a geohash of " + bits / 5 + " characters"
              : "a geohash of " + bits + " digits 0 or 1");
    }
    return hash;
  }

  private static long hex(byte[] b, int off, int from, int to) {
    long value = 0;
    for (int i = from; i < to; i++) {
      value = value << 4 | digit(b[off + i]);
    }
    return value;
  }

  private static int digit(byte c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }

  private static SfException malformed(byte[] b, int off, int len, String wanted) {
    String text = new String(b, off, Math.min(len, SHOWN), StandardCharsets.UTF_8);
    return FieldWriters.invalid("text '" + text + (len > SHOWN ? "…" : "") + "' is not " + wanted);
  }
}
