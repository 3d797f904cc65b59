package org.questdbsf.slot;

import java.nio.file.Path;
import java.util.Map;

/** A locked, recovered slot on disk. */
public final class Slot implements AutoCloseable {
  private Slot() {}

  /**
   * Locks and recovers a slot, or makes it. The work is done by the keeper's threads; the caller
   * waits, interruptibly.
   */
  public static Slot open(
      Path sfDir,
      String name,
      RingSettings settings,
      SegmentBudget.Share share,
      SegmentKeeper keeper,
      DiskIo io)
      throws InterruptedException {
    throw new UnsupportedOperationException("Slot.open");
  }

  /** The slot's frames; closed by {@link #close}. */
  public SegmentRing ring() {
    throw new UnsupportedOperationException("ring");
  }

  /** What recovery found. */
  public RecoveryReport report() {
    throw new UnsupportedOperationException("report");
  }

  /** The slot directory. */
  public Path directory() {
    throw new UnsupportedOperationException("directory");
  }

  /** The slot's name. */
  public String name() {
    throw new UnsupportedOperationException("name");
  }

  /** Whether recovery found no frame. */
  public boolean startedEmpty() {
    throw new UnsupportedOperationException("startedEmpty");
  }

  /** Writes {@code .target} and forces it; to be called before the first frame. */
  public void writeTarget(Map<String, String> target) {
    throw new UnsupportedOperationException("writeTarget");
  }

  /** Writes {@code .failed} and forces it: adopters leave the slot alone from now on. */
  public void writeFailed(String reason) {
    throw new UnsupportedOperationException("writeFailed");
  }

  /** Writes {@code .last_error} and forces it: a note for people, without effect. */
  public void writeLastError(String text) {
    throw new UnsupportedOperationException("writeLastError");
  }

  /** Closes the ring and gives the lock back. */
  @Override
  public void close() {
    throw new UnsupportedOperationException("close");
  }
}
