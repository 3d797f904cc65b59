package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;

/**
 * Decides when a connection has been silent for too long, and when to send a PING: after a second
 * without a word while frames are unacknowledged (servers flush their acknowledgements on it), and
 * in durable mode every keepalive interval while confirmations are pending. One per connection;
 * loop's thread only; times are nanoseconds.
 */
final class SilenceWatch {
  /** What is to be done now. */
  enum Verdict {
    NOTHING,
    PING,
    DEAD
  }

  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
  private static final long FOREVER = TimeUnit.SECONDS.toNanos(3600);

  private final long ackTimeout;
  private final long keepalive;
  private boolean waiting;
  private long waitingSince;
  private long lastOutbound;
  private long lastPing;

  SilenceWatch(long ackTimeoutMillis, long keepaliveMillis, long now) {
    this.ackTimeout = TimeUnit.MILLISECONDS.toNanos(ackTimeoutMillis);
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

  /**
   * @param lastReceived when bytes last came
   * @param confirmationsPending whether durable confirmations are
   */
  Verdict look(long now, long lastReceived, boolean confirmationsPending) {
    if (waiting) {
      long silent = now - later(lastReceived, waitingSince);
      if (silent >= ackTimeout) {
        return Verdict.DEAD;
      }
      if (silent >= PATIENCE && now - later(lastPing, waitingSince) >= PATIENCE) {
        return Verdict.PING;
      }
    }
    return confirmationsPending && keepalive > 0 && now - lastOutbound >= keepalive
        ? Verdict.PING
        : Verdict.NOTHING;
  }

  /** Nanoseconds until {@link #look} may say something else. */
  long nextLook(long now, long lastReceived, boolean confirmationsPending) {
    long next = FOREVER;
    if (waiting) {
      long heard = later(lastReceived, waitingSince);
      long ping = later(heard, later(lastPing, waitingSince)) + PATIENCE;
      next = Math.min(ping, heard + ackTimeout) - now;
    }
    if (confirmationsPending && keepalive > 0) {
      next = Math.min(next, lastOutbound + keepalive - now);
    }
    return Math.max(1, next);
  }

  private static long later(long a, long b) {
    return a - b > 0 ? a : b;
  }
}
