package org.questdbsf.spark;

/**
 * Hands out what counters grew by, each increment to one claimant only. Lanes count between tasks,
 * and Spark forgets the metrics of failed tasks: what one task could not report, the next one
 * claims. Thread-safe.
 */
final class ClaimBook {
  private final long[] claimed = new long[SfMetric.values().length];

  /** What the totals grew by since the last claim, by ordinal of {@link SfMetric}. */
  synchronized long[] claim(long[] totals) {
    long[] growth = new long[claimed.length];
    for (int i = 0; i < claimed.length; i++) {
      growth[i] = Math.max(0, totals[i] - claimed[i]);
      claimed[i] += growth[i];
    }
    return growth;
  }

  /** Returns a claim that was not reported. */
  synchronized void giveBack(long[] growth) {
    for (int i = 0; i < claimed.length; i++) {
      claimed[i] -= growth[i];
    }
  }
}
