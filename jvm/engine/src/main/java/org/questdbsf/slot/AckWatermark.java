package org.questdbsf.slot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * The file {@code .ack-watermark}: the highest acknowledged FSN, so that a restart does not send
 * again what was acknowledged inside the oldest segment (store-and-forward specification, section
 * 5.4).
 *
 * <pre>
 *  0  u32  magic 0x31574B41 "AKW1"     4  u32  reserved, 0     8  i64  FSN, -1 or more
 * </pre>
 *
 * <p>Not thread-safe: the keeper is the only writer.
 */
final class AckWatermark {
  static final String FILE = ".ack-watermark";
  static final int BYTES = 16;
  private static final int MAGIC = 0x31574B41;
  private static final int FSN_OFFSET = 8;

  private final MarkFile file;

  /**
   * @param there whether the directory holds a valid one already
   */
  AckWatermark(Path directory, DiskIo io, boolean there) {
    this.file = new MarkFile(directory, FILE, io, there);
  }

  /**
   * Reads the FSN; empty when the file does not hold one. Other clients write 8192 bytes in another
   * layout: those are not understood here, and not needed, as such a slot has a manifest.
   */
  static OptionalLong read(Path directory, DiskIo io) throws IOException {
    byte[] bytes = new byte[BYTES];
    try (DiskIo.Reader reader = io.open(directory.resolve(FILE))) {
      if (reader.size() != BYTES || reader.read(ByteBuffer.wrap(bytes), 0) != BYTES) {
        return OptionalLong.empty();
      }
    }
    ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long fsn = b.getLong(FSN_OFFSET);
    return b.getInt(0) == MAGIC && b.getInt(4) == 0 && fsn >= -1
        ? OptionalLong.of(fsn)
        : OptionalLong.empty();
  }

  /** Writes an FSN; forced together with the file's name where asked. */
  void write(long fsn, boolean force) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(0, MAGIC).putLong(FSN_OFFSET, fsn);
    file.write(bytes.array(), force);
  }
}
