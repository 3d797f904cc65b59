package org.questdbsf.qwp;

import java.nio.charset.StandardCharsets;
import org.questdbsf.qwp.MalformedMessageException.Reason;

/** Reads a message from its start on and refuses to read past its end. */
final class Cursor {
  private final byte[] bytes;
  private int at;

  Cursor(byte[] message) {
    this.bytes = message;
  }

  byte[] bytes() {
    return bytes;
  }

  int at() {
    return at;
  }

  int left() {
    return bytes.length - at;
  }

  MalformedMessageException fault(int offset, String fault) {
    return new MalformedMessageException(Reason.PARSE, offset, fault);
  }

  /** Passes over so many bytes and returns where they begin. */
  int take(long count, String what) throws MalformedMessageException {
    if (count > left()) {
      throw fault(at, what + " needs " + count + " bytes, " + left() + " are left");
    }
    int from = at;
    at += (int) count;
    return from;
  }

  int readByte(String what) throws MalformedMessageException {
    return bytes[take(1, what)] & 0xFF;
  }

  int readShort(String what) throws MalformedMessageException {
    return LittleEndian.getShort(bytes, take(2, what)) & 0xFFFF;
  }

  int readInt(String what) throws MalformedMessageException {
    return LittleEndian.getInt(bytes, take(4, what));
  }

  /**
   * A varint from {@code min} to {@code max}; longer forms than needed are allowed, to 10 bytes.
   */
  int readVarint(String what, int min, int max) throws MalformedMessageException {
    int from = at;
    long value = 0;
    for (int i = 0; ; i++) {
      int b = readByte(what);
      if (i == Varint.MAX_BYTES - 1 && b > 1) {
        throw fault(from, what + " is a varint of more than 64 bits");
      }
      value |= (b & 0x7FL) << 7 * i;
      if (b < 0x80) {
        break;
      }
    }
    if (value < min || value > max) {
      throw fault(
          from, what + " is " + Long.toUnsignedString(value) + ", not " + min + " to " + max);
    }
    return (int) value;
  }

  /** A string of at most so many bytes. */
  String readString(String what, int min, int max) throws MalformedMessageException {
    int len = readVarint(what + " length", min, max);
    int from = take(len, what);
    checkUtf8(what, from, len);
    return new String(bytes, from, len, StandardCharsets.UTF_8);
  }

  void checkUtf8(String what, int from, int len) throws MalformedMessageException {
    int bad = Utf8.invalidAt(bytes, from, len);
    if (bad != Utf8.VALID) {
      throw fault(bad, what + " is not UTF-8");
    }
  }
}
