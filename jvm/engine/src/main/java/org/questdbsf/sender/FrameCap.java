package org.questdbsf.sender;

import java.util.function.IntConsumer;

/**
 * How large a frame may be: 90 % of the smallest batch cap that any server stated, 120 KiB until
 * one did, and what fits a segment. The loop writes, the producer reads.
 */
final class FrameCap {
  /** Below the smallest receive buffer that servers are known to run with. */
  static final int UNTIL_SEEN = 120 * 1024;

  private final int maxFrameBytes;
  private final IntConsumer onSeen;
  private volatile int smallest;

  /**
   * @param maxFrameBytes what fits a segment
   * @param remembered a cap seen earlier, or 0
   * @param onSeen told of each smaller cap, to remember it
   */
  FrameCap(int maxFrameBytes, int remembered, IntConsumer onSeen) {
    this.maxFrameBytes = maxFrameBytes;
    this.smallest = remembered;
    this.onSeen = onSeen;
  }

  /** A server stated its cap; 0: it did not. */
  void seen(int cap) {
    if (cap > 0 && (smallest == 0 || cap < smallest)) {
      smallest = cap;
      onSeen.accept(cap);
    }
  }

  /** The smallest cap seen, or 0. */
  int smallestSeen() {
    return smallest;
  }

  /** The most bytes a new frame may have. */
  int limit() {
    int cap = smallest;
    return Math.min(maxFrameBytes, cap == 0 ? UNTIL_SEEN : (int) (cap * 9L / 10));
  }
}
