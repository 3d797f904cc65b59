package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * When frames were published, for the latency of acknowledgements and the age of the oldest. Room
 * for a fixed number of frames: where more are unacknowledged, the newest go without. The producer
 * writes, any thread reads, nobody waits.
 */
final class PublishTimes {
  private static final int FRAMES = 4096;

  // Two longs a frame: its FSN plus one (0: none), and the nanoseconds.
  private final AtomicLongArray slots = new AtomicLongArray(2 * FRAMES);

  // Frames of an earlier process count from now.
  private volatile long lastKnown = System.nanoTime();

  /** Notes a frame; producer only. */
  void published(long fsn, long ackedFsn, long now) {
    int slot = slotOf(fsn);
    long other = slots.getPlain(slot) - 1;
    if (other > ackedFsn && other != fsn) {
      return;
    }
    slots.setRelease(slot, 0);
    slots.setRelease(slot + 1, now);
    slots.setRelease(slot, fsn + 1);
  }

  /** Notes that frames are acknowledged, and counts their latency; loop only. */
  void acknowledged(long firstFsn, long lastFsn, long now, SenderCounters counters) {
    for (long fsn = firstFsn; fsn <= lastFsn; fsn++) {
      int slot = slotOf(fsn);
      if (slots.getAcquire(slot) == fsn + 1) {
        long published = slots.getAcquire(slot + 1);
        lastKnown = published;
        counters.recordAckLatency(TimeUnit.NANOSECONDS.toMillis(now - published));
      }
    }
  }

  /**
   * Nanoseconds when a frame was published; where that was not noted, when the last acknowledged
   * one was, which is not later.
   */
  long of(long fsn) {
    return of(fsn, lastKnown);
  }

  private long of(long fsn, long otherwise) {
    int slot = slotOf(fsn);
    if (slots.getAcquire(slot) != fsn + 1) {
      return otherwise;
    }
    long nanos = slots.getAcquire(slot + 1);
    return slots.getAcquire(slot) == fsn + 1 ? nanos : otherwise;
  }

  private static int slotOf(long fsn) {
    return (int) (fsn % FRAMES) * 2;
  }
}
