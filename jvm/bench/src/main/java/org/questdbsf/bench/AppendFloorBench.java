package org.questdbsf.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The floor of {@link AppendBench}: a CRC and a bulk copy into pages that are there already. A ring
 * on disk pays above it for the first touch of each page of a fresh segment.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AppendFloorBench {
  /** What a ring that is read soon goes round in. */
  private static final int TARGET_BYTES = (int) (2 * BusyRing.SEGMENT_BYTES);

  @Param({"memory", "disk"})
  String storage;

  @Param({"1024", "65536", "1000000"})
  int frameBytes;

  private final CRC32C crc = new CRC32C();
  private byte[] frame;
  private ByteBuffer target;
  private Path file;

  /** Makes the target, every page touched, and a frame of random bytes. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    frame = new byte[frameBytes];
    new Random(1).nextBytes(frame);
    if (storage.equals("disk")) {
      file = Files.createTempFile(Path.of("").toAbsolutePath(), "floor", ".map");
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        target = channel.map(MapMode.READ_WRITE, 0, TARGET_BYTES);
      }
    } else {
      target = ByteBuffer.allocateDirect(TARGET_BYTES);
    }
    while (target.remaining() >= frame.length) {
      target.put(frame);
    }
    target.clear();
  }

  /** Removes the file; its map goes with the process. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (file != null) {
      Files.delete(file);
    }
  }

  /** Checksum and copy, nothing else. */
  @Benchmark
  public long floor() {
    crc.reset();
    crc.update(frame, 0, frame.length);
    if (target.remaining() < frame.length) {
      target.clear();
    }
    target.put(frame);
    return crc.getValue();
  }
}
