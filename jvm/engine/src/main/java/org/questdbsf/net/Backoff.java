package org.questdbsf.net;

import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * Sleeps between rounds of connecting: the base doubles from initial to maximum, and each sleep is
 * drawn from [base, 2·base) so that many clients do not come back at once. One thread only.
 */
public final class Backoff {
  private final long initialMillis;
  private final long maxMillis;
  private final RandomGenerator random;
  private long baseMillis;

  /**
   * A back-off at its start.
   *
   * @param initialMillis first base, ≥ 0; 0 means no sleep at all
   * @param maxMillis largest base, ≥ initial
   * @throws IllegalArgumentException when the bounds are not 0 ≤ initial ≤ max ≤ 2^61
   */
  public Backoff(long initialMillis, long maxMillis, RandomGenerator random) {
    if (initialMillis < 0 || maxMillis < initialMillis || maxMillis > 1L << 61) {
      throw new IllegalArgumentException(
          "back-off needs 0 <= initial <= max, not " + initialMillis + " and " + maxMillis);
    }
    this.initialMillis = initialMillis;
    this.maxMillis = maxMillis;
    this.random = Objects.requireNonNull(random, "random");
    this.baseMillis = initialMillis;
  }

  /** The next sleep, in [base, 2·base); doubles the base for the one after it. */
  public long nextSleepMillis() {
    long base = baseMillis;
    baseMillis = Math.min(maxMillis, base * 2);
    return jittered(base);
  }

  /**
   * The sleep after a round in which every endpoint answered with its role: the initial one, and
   * the doubling starts afresh, so that a long failover is probed at a steady pace.
   */
  public long roleRejectSleepMillis() {
    reset();
    return jittered(initialMillis);
  }

  /** After a success: the next sleep is the initial one again. */
  public void reset() {
    baseMillis = initialMillis;
  }

  private long jittered(long base) {
    // a bound of 0 is refused by random generators
    return base == 0 ? 0 : base + random.nextLong(base);
  }
}
