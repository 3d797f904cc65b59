package org.questdbsf.slot;

import java.util.Optional;
import java.util.function.Supplier;
import org.questdbsf.error.SfException;

/**
 * The log of frames between one producer and one consumer, in memory or on disk. Frame sequence
 * numbers (FSN) count up by one from 0, or from where a recovered slot ends.
 */
public final class SegmentRing implements AutoCloseable {
  /** A ring in this process's memory; takes the share over and closes it. */
  public static SegmentRing memory(
      RingSettings settings, SegmentBudget.Share share, SegmentKeeper keeper) {
    throw new UnsupportedOperationException("SegmentRing.memory");
  }

  /**
   * Publishes one frame; producer thread only. Waits for room, interruptibly; an interrupt leaves
   * the ring as it was.
   *
   * @param deadlineMillis longest wait for room, below 0 for none
   * @param stallDetail what the sender is doing, for the message of a time-out
   * @return the frame's FSN
   * @throws SfException FRAME_TOO_LARGE, BACKPRESSURE_TIMEOUT, DISK_FAILED
   */
  public long append(
      byte[] frame, int off, int len, long deadlineMillis, Supplier<String> stallDetail)
      throws InterruptedException {
    throw new UnsupportedOperationException("append");
  }

  /** The largest frame that fits: segment size − 32. */
  public int maxFrameBytes() {
    throw new UnsupportedOperationException("maxFrameBytes");
  }

  /**
   * Returns when all that was published before the call is on stable storage; at once for a memory
   * ring. Producer thread only.
   */
  public void force() throws InterruptedException {
    throw new UnsupportedOperationException("force");
  }

  /** FSN of the newest published frame, −1 when there never was one. Any thread. */
  public long publishedFsn() {
    throw new UnsupportedOperationException("publishedFsn");
  }

  /** Highest acknowledged FSN, −1 when there is none. Any thread. */
  public long ackedFsn() {
    throw new UnsupportedOperationException("ackedFsn");
  }

  /** Bytes in this ring's segments, spares included. Any thread. */
  public long bytesUsed() {
    throw new UnsupportedOperationException("bytesUsed");
  }

  /** The budget's total. Any thread. */
  public long capacityBytes() {
    throw new UnsupportedOperationException("capacityBytes");
  }

  /** How often a producer had to wait for room. Any thread. */
  public long backpressureStalls() {
    throw new UnsupportedOperationException("backpressureStalls");
  }

  /** Why the ring takes no more frames, if so; it can still be read. Any thread. */
  public Optional<SfException> failure() {
    throw new UnsupportedOperationException("failure");
  }

  /** Set once, before the first append: run by the producer after each publication. */
  public void onPublished(Runnable wakeUp) {
    throw new UnsupportedOperationException("onPublished");
  }

  /** Length of a frame, −1 when it is not published yet. Consumer thread only. */
  public int frameLength(long fsn) {
    throw new UnsupportedOperationException("frameLength");
  }

  /** Copies a frame out and checks it. Consumer thread only. */
  public void copyFrame(long fsn, byte[] dst, int off) {
    throw new UnsupportedOperationException("copyFrame");
  }

  /** Acknowledges everything up to and including an FSN. Consumer thread only. */
  public void acknowledge(long fsn) {
    throw new UnsupportedOperationException("acknowledge");
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("close");
  }
}
