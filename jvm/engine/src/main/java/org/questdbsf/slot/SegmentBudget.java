package org.questdbsf.slot;

import java.util.LinkedHashSet;
import java.util.Set;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The bytes that all rings of one JVM and one set of settings may hold together (option {@code
 * sf_max_total_bytes}). Each ring opens a {@link Share}, which is guaranteed two segments: one
 * being written and one to rotate into, without which a rotation could wait for ever. What is left
 * is handed out in the order of asking. Thread-safe.
 */
public final class SegmentBudget {
  private static final long NANOS_IN_MILLI = 1_000_000;

  private final long totalBytes;

  /** Shares that asked in vain, oldest first: room that comes free is theirs. */
  private final Set<Share> waiting = new LinkedHashSet<>();

  /** Sum over all shares of max(guaranteed, used): what nobody else may take. */
  private long committed;

  private long used;

  /**
   * @param totalBytes the cap, above 0
   */
  public SegmentBudget(long totalBytes) {
    if (totalBytes <= 0) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "sf_max_total_bytes=" + totalBytes + " is out of range; give a size above 0");
    }
    this.totalBytes = totalBytes;
  }

  /**
   * Opens the share of one ring; the ring that gets it closes it.
   *
   * @param segmentBytes the ring's segment size
   * @throws SfException {@link ErrorCode#CONFIG_INVALID_VALUE} when two segments are more than the
   *     whole budget, {@link ErrorCode#BACKPRESSURE_TIMEOUT} when they are more than what is left
   *     of it now; both with the arithmetic
   */
  public synchronized Share open(long segmentBytes) {
    long guaranteed = Math.multiplyExact(2, segmentBytes);
    if (guaranteed > totalBytes) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "a ring needs two segments: 2 x sf_max_segment_bytes ("
              + segmentBytes
              + ") = "
              + guaranteed
              + " bytes, but sf_max_total_bytes is "
              + totalBytes
              + "; raise sf_max_total_bytes or lower sf_max_segment_bytes");
    }
    if (committed + guaranteed > totalBytes) {
      throw new SfException(
          ErrorCode.BACKPRESSURE_TIMEOUT,
          "no room for another ring: 2 x sf_max_segment_bytes ("
              + segmentBytes
              + ") = "
              + guaranteed
              + " bytes, but of sf_max_total_bytes ("
              + totalBytes
              + ") "
              + committed
              + " are taken; wait until other rings drain, raise sf_max_total_bytes, or lower"
              + " sf_max_segment_bytes or max_lanes");
    }
    committed += guaranteed;
    return new Share(guaranteed);
  }

  /**
   * Waits until {@link #open} may succeed, at most so long. Another caller may be quicker, so it
   * may fail all the same.
   *
   * @param segmentBytes the ring's segment size
   * @param millis at least 1
   */
  public synchronized void awaitRoom(long segmentBytes, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + millis * NANOS_IN_MILLI;
    long left = millis;
    while (committed + 2 * segmentBytes > totalBytes && left > 0) {
      wait(left);
      left = (deadline - System.nanoTime()) / NANOS_IN_MILLI;
    }
  }

  /** Bytes in segments now, spares included; may pass the total when a recovered slot is larger. */
  public synchronized long usedBytes() {
    return used;
  }

  /** The cap. */
  public long totalBytes() {
    return totalBytes;
  }

  /** The part of the budget that one ring uses. */
  public final class Share implements AutoCloseable {
    private final long guaranteed;
    private long usedHere;
    private boolean closed;
    private Runnable onRoom = () -> {};

    private Share(long guaranteed) {
      this.guaranteed = guaranteed;
    }

    /**
     * Makes this the share of one ring. The action is called, from any thread and outside all
     * locks, when a take that failed may succeed now.
     */
    void claim(Runnable action) {
      synchronized (SegmentBudget.this) {
        checkOpen();
        onRoom = action;
      }
    }

    private void checkOpen() {
      if (closed) {
        throw new IllegalStateException(
            "this share is closed: a ring, or a slot that could not be opened, had it; open"
                + " another");
      }
    }

    /** Takes bytes, or queues this share for the room that comes free next and returns false. */
    boolean tryTake(long bytes) {
      Runnable next;
      synchronized (SegmentBudget.this) {
        if (closed) {
          return false;
        }
        long more = Math.max(0, usedHere + bytes - Math.max(guaranteed, usedHere));
        boolean mine = waiting.isEmpty() || waiting.iterator().next() == this;
        if (more > 0 && !(mine && committed + more <= totalBytes)) {
          waiting.add(this);
          return false;
        }
        waiting.remove(this);
        charge(bytes);
        next = firstWaiting(); // there may be room for the one behind as well
      }
      next.run();
      return true;
    }

    /** Counts bytes that exist already (a recovered slot), also beyond the total. */
    void adopt(long bytes) {
      synchronized (SegmentBudget.this) {
        checkOpen();
        charge(bytes);
      }
    }

    private void charge(long bytes) {
      long before = Math.max(guaranteed, usedHere);
      usedHere += bytes;
      used += bytes;
      committed += Math.max(guaranteed, usedHere) - before;
    }

    /** Gives bytes back. */
    void give(long bytes) {
      Runnable next;
      synchronized (SegmentBudget.this) {
        charge(-bytes);
        SegmentBudget.this.notifyAll();
        next = firstWaiting();
      }
      next.run();
    }

    /** Leaves the queue: a ring that cannot use room must not keep it from others. */
    void stopWaiting() {
      Runnable next;
      synchronized (SegmentBudget.this) {
        if (!waiting.remove(this)) {
          return;
        }
        next = firstWaiting();
      }
      next.run();
    }

    /** Bytes this share uses. */
    long usedBytes() {
      synchronized (SegmentBudget.this) {
        return usedHere;
      }
    }

    /** The cap of the whole budget. */
    long totalBytes() {
      return totalBytes;
    }

    /** Gives everything back. A second call does nothing. */
    @Override
    public void close() {
      Runnable next;
      synchronized (SegmentBudget.this) {
        if (closed) {
          return;
        }
        closed = true;
        charge(-usedHere);
        committed -= guaranteed;
        SegmentBudget.this.notifyAll();
        waiting.remove(this);
        next = firstWaiting();
      }
      next.run();
    }
  }

  private Runnable firstWaiting() {
    return waiting.isEmpty() ? () -> {} : waiting.iterator().next().onRoom;
  }
}
