package org.questdbsf.sender;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Since when no server has taken a connection, for senders that take over from one another: the
 * next attempt at a task goes on with the outage that ended the one before. Any thread.
 */
public final class OutageClock {
  /** Where nobody has tried for so long, nothing is known of the time between. */
  private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** The beginning of an outage. */
  record Start(long nanos, Instant at) {}

  private Start running; // null: a server was there
  private long lastTried;

  /** A sender that was not connected yet begins to try; returns since when others have tried. */
  synchronized Start begin(long now) {
    if (running == null || now - lastTried > FORGET_NANOS) {
      running = new Start(now, Instant.now());
    }
    lastTried = now;
    return running;
  }

  /** A sender goes on trying. */
  synchronized void tried(long now) {
    lastTried = now;
  }

  /** A server was there. */
  synchronized void over() {
    running = null;
  }
}
