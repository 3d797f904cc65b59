package org.questdbsf.sender;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Which hosts said that the frame at the head of the line is larger than they take, and since when.
 * A host with too small a cap may be in the middle of a change of its settings, so that only a long
 * time of all hosts saying so ends the sender. Loop's thread only; times are nanoseconds.
 */
final class CapWatch {
  private static final long NEVER = Long.MIN_VALUE;

  private final long[] tooSmallSince;
  private final long windowNanos;

  CapWatch(int hosts, long windowMillis) {
    this.tooSmallSince = new long[hosts];
    this.windowNanos = TimeUnit.MILLISECONDS.toNanos(windowMillis);
    Arrays.fill(tooSmallSince, NEVER);
  }

  /** A host cannot take the head frame. */
  void tooSmall(int host, long now) {
    if (tooSmallSince[host] == NEVER) {
      tooSmallSince[host] = now;
    }
  }

  /** A host took it, or said nothing about it. */
  void forget(int host) {
    tooSmallSince[host] = NEVER;
  }

  /** Frames went on: what was said was about another frame. */
  void forgetAll() {
    Arrays.fill(tooSmallSince, NEVER);
  }

  /** Whether all hosts have said so for the whole window. */
  boolean hopeless(long now) {
    for (long since : tooSmallSince) {
      if (since == NEVER || now - since < windowNanos) {
        return false;
      }
    }
    return true;
  }
}
