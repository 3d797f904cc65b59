package org.questdbsf.testserver;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Server to client messages, little-endian (client spec, section on replies). */
final class Replies {
  private static final byte OK = 0x00;
  private static final byte DURABLE_ACK = 0x02;
  private static final int MAX_TEXT_BYTES = 1024;

  private Replies() {}

  static byte[] ok(long sequence, Map<String, Long> tables) {
    ByteBuffer out = buffer(1 + Long.BYTES + tablesBytes(tables));
    out.put(OK).putLong(sequence);
    return putTables(out, tables);
  }

  static byte[] durable(Map<String, Long> tables) {
    ByteBuffer out = buffer(1 + tablesBytes(tables));
    out.put(DURABLE_ACK);
    return putTables(out, tables);
  }

  /** The text is cut to 1024 bytes, at a character. */
  static byte[] error(int status, long sequence, String text) {
    String cut = text;
    byte[] utf8 = cut.getBytes(StandardCharsets.UTF_8);
    while (utf8.length > MAX_TEXT_BYTES) {
      cut = cut.substring(0, cut.offsetByCodePoints(cut.length(), -1));
      utf8 = cut.getBytes(StandardCharsets.UTF_8);
    }
    ByteBuffer out = buffer(1 + Long.BYTES + Short.BYTES + utf8.length);
    return out.put((byte) status).putLong(sequence).putShort((short) utf8.length).put(utf8).array();
  }

  private static int tablesBytes(Map<String, Long> tables) {
    int bytes = Short.BYTES;
    for (String name : tables.keySet()) {
      bytes += Short.BYTES + name.getBytes(StandardCharsets.UTF_8).length + Long.BYTES;
    }
    return bytes;
  }

  private static byte[] putTables(ByteBuffer out, Map<String, Long> tables) {
    out.putShort((short) tables.size());
    tables.forEach(
        (name, seqTxn) -> {
          byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
          out.putShort((short) utf8.length).put(utf8).putLong(seqTxn);
        });
    return out.array();
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
