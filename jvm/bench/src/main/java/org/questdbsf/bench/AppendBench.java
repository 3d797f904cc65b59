package org.questdbsf.bench;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.AuxCounters;
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
 * One frame into the ring: what a publishing task pays, beside the copy and CRC nobody can avoid.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AppendBench {
  private static final Supplier<String> NO_DETAIL = () -> "";

  @Param({"memory", "disk"})
  String storage;

  @Param({"1024", "65536", "1000000"})
  int frameBytes;

  private byte[] frame;
  private BusyRing busy;

  /** Waits for room: where there are some, the disk was measured and not the append. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Waits {
    /** How often the producer had to wait in an iteration. */
    public long waits;
  }

  /** Opens the ring and makes a frame of random bytes. */
  @Setup(Level.Trial)
  public void open() throws IOException, InterruptedException {
    frame = new byte[frameBytes];
    new Random(1).nextBytes(frame);
    busy = new BusyRing(storage);
  }

  /** Closes the ring and removes its files. */
  @TearDown(Level.Trial)
  public void close() throws IOException, InterruptedException {
    busy.close();
  }

  /** The whole append: checksum, copy, publication, rotation into the next segment. */
  @Benchmark
  public long append(Waits waits) throws InterruptedException {
    long before = busy.ring().backpressureStalls();
    long fsn = busy.ring().append(frame, 0, frame.length, -1, NO_DETAIL);
    waits.waits += busy.ring().backpressureStalls() - before;
    return fsn;
  }
}
