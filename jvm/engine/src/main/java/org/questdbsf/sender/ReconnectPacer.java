package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Keeps a sender from hammering its servers, also where each upgrade succeeds and the connection
 * then dies: at most 20 attempts in any second, and once 10 s went by without an acknowledgement,
 * at most one walk over the hosts a second. Send loop's thread only; times are nanoseconds.
 */
final class ReconnectPacer {
  static final int MOST_A_SECOND = 20;

  private static final long SECOND = SECONDS.toNanos(1);
  private static final long PATIENCE = SECONDS.toNanos(10);

  private final int most;
  private final long[] attempts;
  private int made;
  private boolean fruitless;
  private long fruitlessSince;
  private long lastWalk;

  ReconnectPacer(int mostASecond) {
    this.most = mostASecond;
    this.attempts = new long[mostASecond];
  }

  /** Nanoseconds to wait before the next attempt; 0 when it may start now. */
  long waitNanos(boolean firstOfWalk, long now) {
    long wait = 0;
    if (made >= most) {
      wait = attempts[made % most] + SECOND - now;
    }
    if (firstOfWalk && fruitless && now - fruitlessSince >= PATIENCE) {
      wait = Math.max(wait, lastWalk + SECOND - now);
    }
    return Math.max(0, wait);
  }

  /** An attempt starts. */
  void attempt(boolean firstOfWalk, long now) {
    attempts[made % most] = now;
    // Wraps long before the int does, and keeps "at least 20 were made".
    made = made + 1 == 2 * most ? most : made + 1;
    if (firstOfWalk) {
      lastWalk = now;
    }
    if (!fruitless) {
      fruitless = true;
      fruitlessSince = now;
    }
  }

  /** Frames were acknowledged. */
  void progressed() {
    fruitless = false;
  }
}
