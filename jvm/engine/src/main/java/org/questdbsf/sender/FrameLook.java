package org.questdbsf.sender;

import java.nio.charset.StandardCharsets;
import org.questdbsf.qwp.MessageHeader;

/**
 * Reads the little that the send loop wants to know of a message: where its dictionary section
 * starts, and which table it is for. A message that does not read well has no table: it is for the
 * server to refuse, not for us.
 */
final class FrameLook {
  /** Called for each symbol of a message. */
  @FunctionalInterface
  interface Symbols {
    /** The bytes of a symbol; not kept after the call. */
    void symbol(int id, byte[] bytes, int offset, int length);
  }

  private static final Symbols IGNORE = (id, bytes, offset, length) -> {};

  private byte[] bytes;
  private int end;
  private int at;
  private boolean broken;

  private int tableCount;
  private int deltaStart;
  private int deltaCount;
  private int nameAt;
  private int nameLength;
  private String table;
  private int rows;

  /** Looks at a message. */
  static FrameLook at(byte[] bytes, int offset, int length) {
    return at(bytes, offset, length, IGNORE);
  }

  /** Looks at a message and hands out its symbols. */
  static FrameLook at(byte[] bytes, int offset, int length, Symbols symbols) {
    FrameLook look = new FrameLook();
    look.read(bytes, offset, length, symbols);
    if (look.hasOneTable()) {
      look.table = new String(bytes, look.nameAt, look.nameLength, StandardCharsets.UTF_8);
    }
    return look;
  }

  /** Looks at a message without making any object; {@link #table} is not set. */
  void read(byte[] message, int offset, int length) {
    read(message, offset, length, IGNORE);
  }

  private void read(byte[] message, int offset, int length, Symbols symbols) {
    bytes = message;
    end = offset + length;
    at = offset + MessageHeader.SIZE;
    deltaStart = 0;
    deltaCount = 0;
    tableCount = 0;
    rows = 0;
    broken = !MessageHeader.isQwp(message, offset, length);
    if (broken) {
      return;
    }
    tableCount = MessageHeader.tableCount(message, offset);
    if ((MessageHeader.flags(message, offset) & MessageHeader.FLAG_DELTA_SYMBOL_DICT) != 0) {
      readSymbols(symbols);
    }
    if (tableCount == 1) {
      readTable();
    }
  }

  /** Whether it ends before it should, or is no message at all. */
  boolean broken() {
    return broken;
  }

  /** Id of the first symbol it carries, or would carry. */
  int deltaStart() {
    return deltaStart;
  }

  /** Ids the server knows after it. */
  int deltaEnd() {
    return deltaStart + deltaCount;
  }

  /** Table blocks of the message, whether they read well or not. */
  int tableCount() {
    return tableCount;
  }

  /** Whether it has exactly one table, whose name and rows read well. */
  boolean hasOneTable() {
    return tableCount == 1 && !broken;
  }

  /** Where the name of its one table begins in the array that was looked at. */
  int nameAt() {
    return nameAt;
  }

  /** Bytes of that name. */
  int nameLength() {
    return nameLength;
  }

  /** Its table, or null unless it has exactly one. */
  String table() {
    return broken ? null : table;
  }

  /** Rows of that table, or 0. */
  int rows() {
    return broken ? 0 : rows;
  }

  private void readSymbols(Symbols symbols) {
    deltaStart = varint();
    int count = varint();
    for (int i = 0; i < count && !broken; i++) {
      int length = varint();
      if (length > end - at) {
        broken = true;
      } else if (!broken) {
        symbols.symbol(deltaStart + i, bytes, at, length);
        at += length;
        deltaCount++;
      }
    }
  }

  private void readTable() {
    int length = varint();
    if (broken || length > end - at) {
      broken = true;
      return;
    }
    nameAt = at;
    nameLength = length;
    at += length;
    rows = varint();
  }

  private int varint() {
    long value = 0;
    for (int shift = 0; shift < 35 && at < end; shift += 7) {
      byte b = bytes[at++];
      value |= (long) (b & 0x7F) << shift;
      if (b >= 0) {
        if (value <= Integer.MAX_VALUE) {
          return (int) value;
        }
        break;
      }
    }
    broken = true;
    return 0;
  }
}
