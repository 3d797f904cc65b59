package org.questdbsf.qwp;

/**
 * The 12 bytes before a payload: magic u32, version u8, flags u8, table count u16, payload length
 * u32, all little-endian (client spec, section on the message header). A cheap look without
 * decoding: the caller has made sure that {@link #SIZE} bytes are there.
 */
public final class MessageHeader {
  /** Bytes of the header. */
  public static final int SIZE = 12;

  /** {@code QWP1}, read as a little-endian u32. */
  public static final int MAGIC = 0x31505751;

  /** The only version there is. */
  public static final int VERSION = 1;

  /** The rows are committed with a later message. */
  public static final int FLAG_DEFER_COMMIT = 0x01;

  /** Timestamp columns carry an encoding byte. */
  public static final int FLAG_GORILLA = 0x04;

  /** A delta section of the symbol dictionary comes first. */
  public static final int FLAG_DELTA_SYMBOL_DICT = 0x08;

  private MessageHeader() {}

  /** Whether the bytes begin with the magic and a version that this code knows. */
  public static boolean isQwp(byte[] b, int off, int len) {
    return len >= SIZE
        && (b[off] & 0xFF
                | (b[off + 1] & 0xFF) << 8
                | (b[off + 2] & 0xFF) << 16
                | (b[off + 3] & 0xFF) << 24)
            == MAGIC
        && b[off + 4] == VERSION;
  }

  /** The flags byte. */
  public static int flags(byte[] b, int off) {
    return b[off + 5] & 0xFF;
  }

  /** Whether the message waits for the commit of a later one. */
  public static boolean isDeferred(byte[] b, int off) {
    return (flags(b, off) & FLAG_DEFER_COMMIT) != 0;
  }

  /** Table blocks; 0 for a commit or a dictionary catch-up. */
  public static int tableCount(byte[] b, int off) {
    return b[off + 6] & 0xFF | (b[off + 7] & 0xFF) << 8;
  }

  /** Bytes behind the header, as an unsigned 32-bit number. */
  public static long payloadLength(byte[] b, int off) {
    return (b[off + 8] & 0xFFL)
        | (b[off + 9] & 0xFFL) << 8
        | (b[off + 10] & 0xFFL) << 16
        | (b[off + 11] & 0xFFL) << 24;
  }
}
