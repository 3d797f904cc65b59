package org.questdbsf.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.Durability;
import org.questdbsf.slot.RingSettings;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.SegmentRing;
import org.questdbsf.slot.Slot;

/**
 * A ring in memory or on disk whose consumer acknowledges everything soon, so that it never fills.
 */
final class BusyRing {
  /** Big enough that a burst of the producer waits for no new segment. */
  static final long SEGMENT_BYTES = 16L << 20;

  private static final long TOTAL_BYTES = 1L << 29;
  private static final long PAUSE_NANOS = 20_000;

  private final SegmentRing ring;
  private final Slot slot;
  private final Path directory;
  private final Thread consumer;
  private volatile boolean closing;

  /**
   * Opens the ring.
   *
   * @param storage {@code memory}, or {@code disk}: a slot in the working directory, not forced
   */
  BusyRing(String storage) throws IOException, InterruptedException {
    RingSettings settings = new RingSettings(SEGMENT_BYTES, Durability.MEMORY, 1_000, 0);
    SegmentBudget.Share share = new SegmentBudget(TOTAL_BYTES).open(SEGMENT_BYTES);
    if (storage.equals("disk")) {
      directory = Files.createTempDirectory(Path.of("").toAbsolutePath(), "ring");
      slot =
          Slot.open(directory, "bench", settings, share, SegmentKeeper.shared(), DiskIo.PRODUCTION);
      ring = slot.ring();
    } else {
      directory = null;
      slot = null;
      ring = SegmentRing.memory(settings, share, SegmentKeeper.shared());
    }
    consumer = new Thread(this::acknowledge, "bench-consumer");
    consumer.setDaemon(true);
    consumer.start();
  }

  SegmentRing ring() {
    return ring;
  }

  private void acknowledge() {
    while (!closing) {
      long published = ring.publishedFsn();
      if (published > ring.ackedFsn()) {
        ring.acknowledge(published);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    ring.acknowledge(ring.publishedFsn());
  }

  void close() throws IOException, InterruptedException {
    closing = true;
    consumer.join();
    if (slot == null) {
      ring.close();
      return;
    }
    slot.close();
    try (Stream<Path> left = Files.walk(directory)) {
      for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
