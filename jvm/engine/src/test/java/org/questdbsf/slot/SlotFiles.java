package org.questdbsf.slot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** Segment files composed by hand, without the code under test. */
final class SlotFiles {
  private SlotFiles() {}

  /** A segment; the frames are packed, the rest is zero. */
  static byte[] segment(int size, long baseFsn, byte[]... frames) {
    ByteBuffer b = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    b.put(new byte[] {'S', 'F', '0', '1', 1, 0, 0, 0}).putLong(baseFsn).putLong(1_000_000);
    for (byte[] f : frames) {
      ByteBuffer len = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, f.length);
      CRC32C crc = new CRC32C();
      crc.update(len.array(), 0, 4);
      crc.update(f, 0, f.length);
      b.putInt((int) crc.getValue()).putInt(f.length).put(f);
    }
    return b.array();
  }

  static byte[] watermark(long fsn) {
    return ByteBuffer.allocate(16)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0x31574B41)
        .putInt(0)
        .putLong(fsn)
        .array();
  }

  static byte[][] frames(int n) {
    byte[][] frames = new byte[n][];
    for (int i = 0; i < n; i++) {
      frames[i] =
          ("QWP1 frame " + i + " ").repeat(1 + i).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }
    return frames;
  }

  static void write(Path directory, String name, byte[] bytes) throws IOException {
    Files.createDirectories(directory);
    Files.write(directory.resolve(name), bytes);
  }

  static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (var entries = Files.newDirectoryStream(from)) {
      for (Path p : entries) {
        Files.copy(p, to.resolve(p.getFileName()));
      }
    }
  }
}
