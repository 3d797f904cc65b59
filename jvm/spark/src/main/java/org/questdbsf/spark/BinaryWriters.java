package org.questdbsf.spark;

import java.nio.ByteBuffer;
import org.questdbsf.qwp.QwpType;

/** Writes Spark's binary to BINARY, UUID (16 bytes) or LONG256 (32 bytes), big-endian. */
final class BinaryWriters {
  private static final int UUID_BYTES = 16;
  private static final int LONG256_BYTES = 32;

  private BinaryWriters() {}

  static FieldWriter of(QwpType target) {
    return switch (target) {
      case UUID ->
          (row, i, out) -> {
            ByteBuffer bytes = sized(row.getBinary(i), UUID_BYTES, "UUID");
            out.putUuid(bytes.getLong(0), bytes.getLong(8));
          };
      case LONG256 ->
          (row, i, out) -> {
            ByteBuffer bytes = sized(row.getBinary(i), LONG256_BYTES, "LONG256");
            out.putLong256(
                bytes.getLong(24), bytes.getLong(16), bytes.getLong(8), bytes.getLong(0));
          };
      default ->
          (row, i, out) -> {
            byte[] bytes = row.getBinary(i);
            out.putBytes(bytes, 0, bytes.length);
          };
    };
  }

  private static ByteBuffer sized(byte[] bytes, int size, String type) {
    if (bytes.length != size) {
      throw FieldWriters.invalid(
          bytes.length + " bytes are not " + type + ", which has " + size + " bytes");
    }
    return ByteBuffer.wrap(bytes);
  }
}
