package org.questdbsf.spark;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for room in the budget that all lanes of a JVM share. Lanes of other queries that are idle
 * and hold nothing end at once; what is full of rows makes room when they are acknowledged, which
 * is waited for without a deadline, as in a full ring.
 */
final class LaneRoom {
  private static final Logger LOG = LoggerFactory.getLogger(LaneRoom.class);

  /** A lane that is lent frees no budget when it becomes idle: looked at anew after this long. */
  private static final long LOOK_MILLIS = 100;

  private static final long WARN_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final AtomicLong LAST_WARNING = new AtomicLong(System.nanoTime() - WARN_NANOS);

  private LaneRoom() {}

  /** Opens a lane, or finds that the budget has no room for it. */
  @FunctionalInterface
  interface Opening {
    Lane open() throws InterruptedException;
  }

  /**
   * Opens a lane as soon as there is room. For the thread of the task, which an interrupt wakes.
   *
   * @throws SfException why none can be opened, other than for want of room
   */
  static Lane await(LaneOpener opener, Opening opening) throws InterruptedException {
    while (true) {
      try {
        return opening.open();
      } catch (SfException e) {
        if (e.code() != ErrorCode.BACKPRESSURE_TIMEOUT) {
          throw e;
        }
        if (!LanePools.endIdleLane(opener)) {
          warn(e);
          opener.awaitRoom(LOOK_MILLIS);
        }
      }
    }
  }

  private static void warn(SfException e) {
    long last = LAST_WARNING.get();
    long now = System.nanoTime();
    if (now - last >= WARN_NANOS && LAST_WARNING.compareAndSet(last, now)) {
      LOG.warn("A task waits for a lane: {}", RowEncoder.withoutCode(e.code(), e.getMessage()));
    }
  }
}
