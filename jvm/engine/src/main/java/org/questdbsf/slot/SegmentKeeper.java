package org.questdbsf.slot;

/**
 * Does what producers and senders must not wait for: makes hot spares, trims acknowledged segments,
 * writes watermarks, forces files, unmaps and deletes. One daemon thread for all rings of a JVM.
 */
public final class SegmentKeeper implements AutoCloseable {
  /** The keeper that everything in this JVM shares; never closed. */
  public static SegmentKeeper shared() {
    throw new UnsupportedOperationException("SegmentKeeper.shared");
  }

  /** Stops the thread. Only for a keeper that has no rings any more. */
  @Override
  public void close() {
    throw new UnsupportedOperationException("SegmentKeeper.close");
  }
}
