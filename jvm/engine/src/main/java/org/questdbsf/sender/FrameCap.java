package org.questdbsf.sender;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import org.questdbsf.net.Endpoint;

/**
 * How large a frame may be: 90 % of the smallest batch cap of the hosts, each by what it stated
 * last, 120 KiB until one did, and what fits a segment. The loop writes, the producer reads.
 */
final class FrameCap {
  /** Below the smallest receive buffer that servers are known to run with. */
  static final int UNTIL_SEEN = 120 * 1024;

  /** Less is no size for frames: the host is left alone until it takes them. */
  static final int LEAST = 4096;

  private final int maxFrameBytes;
  private final int hosts;
  private final int remembered;
  private final IntConsumer onChange;
  private final Map<Endpoint, Integer> stated = new HashMap<>();
  private volatile int smallest;
  private volatile int largest; // 0 until all hosts have stated theirs

  /**
   * @param maxFrameBytes what fits a segment
   * @param hosts how many there are
   * @param remembered the smallest cap seen earlier, or 0; holds until all hosts have stated theirs
   * @param onChange told of the smallest cap when it changes, to remember it
   */
  FrameCap(int maxFrameBytes, int hosts, int remembered, IntConsumer onChange) {
    this.maxFrameBytes = maxFrameBytes;
    this.hosts = hosts;
    this.remembered = remembered < LEAST ? 0 : remembered;
    this.smallest = this.remembered;
    this.onChange = onChange;
  }

  /** A host stated its cap; 0: it did not. */
  void seen(Endpoint host, int cap) {
    if (cap < LEAST) {
      return;
    }
    stated.put(host, cap);
    int least = remembered == 0 || stated.size() >= hosts ? Integer.MAX_VALUE : remembered;
    int most = 0;
    for (int other : stated.values()) {
      least = Math.min(least, other);
      most = Math.max(most, other);
    }
    largest = stated.size() >= hosts ? most : 0;
    if (least != smallest) {
      smallest = least;
      onChange.accept(least);
    }
  }

  /** The smallest cap that holds, or 0. */
  int smallest() {
    return smallest;
  }

  /** The most bytes a new frame may have. */
  int limit() {
    int cap = smallest;
    return cap == 0 ? Math.min(maxFrameBytes, UNTIL_SEEN) : limit(cap);
  }

  /** Whether all hosts have stated their caps, and a frame of so many bytes is above each. */
  boolean fitsNoHost(long bytes) {
    int cap = largest;
    return cap != 0 && bytes > limit(cap);
  }

  private int limit(int cap) {
    return Math.min(maxFrameBytes, (int) (cap * 9L / 10));
  }
}
