package org.questdbsf.slot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.regex.Pattern;

/**
 * Bytes of a segment file ({@code sf-<gen>.sfa}), format 1 (store-and-forward specification,
 * section 6). All integers are little-endian.
 *
 * <pre>
 * header, 24 bytes                        frame, tightly packed from offset 24
 *  0  u32  magic 0x31304653 "SF01"         0  u32  CRC-32C of (payload length || payload)
 *  4  u8   version 1                       4  i32  payload length, 1 or more
 *  5  u8   flags, 0                        8       payload: one QWP message
 *  6  u16  reserved, 0
 *  8  i64  base FSN: that of the first frame, 0 or more
 * 16  i64  created, microseconds since 1970 (for people)
 * </pre>
 *
 * <p>The file has its full size from the start; what no frame has reached yet is zero. A frame of
 * length 0 does not exist: eight zero bytes are where the frames end.
 */
final class SegmentFormat {
  static final int MAGIC = 0x31304653;
  static final int VERSION = 1;
  static final int HEADER_BYTES = 24;
  static final int FRAME_HEADER_BYTES = 8;

  /** A segment is this much larger than the largest payload it can hold. */
  static final int OVERHEAD_BYTES = HEADER_BYTES + FRAME_HEADER_BYTES;

  static final int VERSION_OFFSET = 4;
  static final int FLAGS_OFFSET = 5;
  static final int RESERVED_OFFSET = 6;
  static final int BASE_FSN_OFFSET = 8;
  static final int CREATED_OFFSET = 16;

  /** "QWP1": how every payload begins. */
  static final int MESSAGE_MAGIC = 0x31505751;

  static final String SUFFIX = ".sfa";

  /** Name of the first segment of slots that other clients made; holds no generation. */
  static final String INITIAL_NAME = "sf-initial.sfa";

  private static final Pattern NAME = Pattern.compile("sf-([0-9a-f]{16})\\.sfa");

  private SegmentFormat() {}

  /** The file name of a generation. */
  static String fileName(long generation) {
    return String.format("sf-%016x%s", generation, SUFFIX);
  }

  /** The generation in a file name, −1 when the name has none. */
  static long generation(String fileName) {
    var m = NAME.matcher(fileName);
    return m.matches() ? Long.parseUnsignedLong(m.group(1), 16) : -1;
  }

  /** A segment's header. */
  static byte[] header(long baseFsn, long createdMicros) {
    return ByteBuffer.allocate(HEADER_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .put((byte) VERSION)
        .put((byte) 0)
        .putShort((short) 0)
        .putLong(baseFsn)
        .putLong(createdMicros)
        .array();
  }
}
