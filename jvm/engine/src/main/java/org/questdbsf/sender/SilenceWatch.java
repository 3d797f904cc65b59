package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;

/**
 * Decides when a connection has gone without an acknowledgement for too long, and when to send a
 * PING: each second without one, or earlier where the time-out is short, while frames are
 * unacknowledged (servers flush their acknowledgements on it), and in durable mode every keepalive
 * interval while confirmations are pending. Only acknowledgements count: a server that answers
 * PINGs may never acknowledge a frame. To make durable what is acknowledged may take {@link
 * #DURABLE_FACTOR} times as long. One per connection; loop's thread only; times are nanoseconds.
 */
final class SilenceWatch {
  /** What is to be done now. */
  enum Verdict {
    NOTHING,
    PING,
    DEAD
  }

  static final int DURABLE_FACTOR = 10;

  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
  private static final long FOREVER = TimeUnit.SECONDS.toNanos(3600);

  private final long patience;
  private final long ackTimeout;
  private final long keepalive;
  private boolean waiting;
  private long waitingSince;
  private boolean confirming;
  private long confirmingSince;
  private long lastOutbound;
  private long lastPing;

  SilenceWatch(long ackTimeoutMillis, long keepaliveMillis, long now) {
    this.ackTimeout = TimeUnit.MILLISECONDS.toNanos(ackTimeoutMillis);
    this.patience = Math.min(PATIENCE, ackTimeout / 2);
    this.keepalive = TimeUnit.MILLISECONDS.toNanos(keepaliveMillis);
    this.lastOutbound = now;
    this.lastPing = now;
  }

  /** A message was sent. */
  void sent(long now) {
    lastOutbound = now;
  }

  /** A PING was sent. */
  void pinged(long now) {
    lastOutbound = now;
    lastPing = now;
  }

  /** Whether anything sent is unacknowledged now. */
  void unacknowledged(boolean any, long now) {
    if (any && !waiting) {
      waitingSince = now;
    }
    waiting = any;
  }

  /** An acknowledgement went further, or a frame was sent that is not to be acknowledged yet. */
  void progressed(long now) {
    waitingSince = now;
  }

  /** What was acknowledged became durable. */
  void confirmed(long now) {
    confirmingSince = now;
  }

  /**
   * How long frames have been unacknowledged without progress, or, where that is longer than the
   * time-out, not durable; 0 when all is well.
   */
  long waited(long now) {
    if (waiting) {
      return now - waitingSince;
    }
    return confirming && now - confirmingSince >= ackTimeout ? now - confirmingSince : 0;
  }

  /** Whether it is durable confirmations that do not come. */
  boolean lacksConfirmations(long now) {
    return confirming && now - confirmingSince >= DURABLE_FACTOR * ackTimeout;
  }

  /**
   * @param confirmationsPending whether durable confirmations are
   */
  Verdict look(long now, boolean confirmationsPending) {
    if (confirmationsPending && !confirming) {
      confirmingSince = now;
    }
    confirming = confirmationsPending;
    if (lacksConfirmations(now)) {
      return Verdict.DEAD;
    }
    if (waiting) {
      if (now - waitingSince >= ackTimeout) {
        return Verdict.DEAD;
      }
      if (now - later(lastPing, waitingSince) >= patience) {
        return Verdict.PING;
      }
    }
    return confirmationsPending && keepalive > 0 && now - lastOutbound >= keepalive
        ? Verdict.PING
        : Verdict.NOTHING;
  }

  /** Nanoseconds until {@link #look} may say something else. */
  long nextLook(long now, boolean confirmationsPending) {
    long next = FOREVER;
    if (waiting) {
      long ping = later(lastPing, waitingSince) + patience;
      next = Math.min(ping - now, waitingSince + ackTimeout - now);
    }
    if (confirmationsPending) {
      next = Math.min(next, confirmingSince + DURABLE_FACTOR * ackTimeout - now);
      next = keepalive > 0 ? Math.min(next, lastOutbound + keepalive - now) : next;
    }
    return Math.max(1, next);
  }

  private static long later(long a, long b) {
    return a - b > 0 ? a : b;
  }
}
