package org.questdbsf.slot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The file {@code .witness}: what a slot should hold, for the recovery that compares it with what
 * is there. Ours alone; other clients do not look at it. It is there from before the first frame
 * until the slot is drained, so that a slot without it was made by an earlier version or another
 * client.
 *
 * <pre>
 *  0  u32  magic 0x31575153 "SQW1"     4  u32  reserved, 0
 *  8  i64  highest acknowledged FSN   16  i64  base FSN of the oldest segment that is needed
 * 24  i64  highest written FSN        32  i64  highest forced FSN
 * 40  i64  boot of the host: CRC-32C of its id, 0 where it has none
 * 48  u32  CRC-32C of the bytes before
 * </pre>
 *
 * <p>Not thread-safe: the keeper is the only writer.
 */
final class SlotWitness {
  static final String FILE = ".witness";
  static final int BYTES = 52;
  private static final int MAGIC = 0x31575153;
  private static final int CRC_OFFSET = 48;

  private final MarkFile file;
  private final DiskIo io;

  SlotWitness(Path directory, DiskIo io) {
    this.file = new MarkFile(directory, FILE, io, false);
    this.io = io;
  }

  /**
   * What a file says.
   *
   * @param sameBoot whether the host has been up since: then all that was written is still there
   */
  record Testimony(Marks marks, boolean sameBoot) {
    /** All frames up to here were in the segments. */
    long written() {
      return Math.max(marks.written(), marks.forced());
    }

    /** All frames up to here must be in the segments, or acknowledged. */
    long promised() {
      return sameBoot ? written() : marks.forced();
    }
  }

  /** Reads the file; empty when it does not hold a whole testimony. */
  static Optional<Testimony> read(Path directory, DiskIo io) throws IOException {
    ByteBuffer b = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (DiskIo.Reader reader = io.open(directory.resolve(FILE))) {
      if (reader.size() != BYTES || reader.read(b, 0) != BYTES) {
        return Optional.empty();
      }
    }
    if (b.getInt(0) != MAGIC || b.getInt(4) != 0 || b.getInt(CRC_OFFSET) != crc(b.array())) {
      return Optional.empty();
    }
    Marks marks = new Marks(b.getLong(8), b.getLong(16), b.getLong(24), b.getLong(32));
    long boot = b.getLong(40);
    return Optional.of(new Testimony(marks, boot != 0 && boot == io.boot()));
  }

  /** Writes it; forced together with the file's name where asked. */
  void write(Marks marks, boolean force) throws IOException {
    ByteBuffer b = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    b.putInt(MAGIC).putInt(0).putLong(marks.acked()).putLong(marks.head());
    b.putLong(marks.written()).putLong(marks.forced()).putLong(io.boot());
    b.putInt(crc(b.array()));
    file.write(b.array(), force);
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, CRC_OFFSET);
    return (int) crc.getValue();
  }
}
