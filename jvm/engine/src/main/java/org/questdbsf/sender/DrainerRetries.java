package org.questdbsf.sender;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** When slots that could not be drained are tried again: less and less often. Thread-safe. */
final class DrainerRetries {
  private static final long LONGEST_MILLIS = 600_000;

  private record Retry(long notBefore, long delayMillis) {}

  private final long firstMillis;
  private final Map<String, Retry> retries = new HashMap<>();

  /**
   * @param firstMillis the pause after a first failure
   */
  DrainerRetries(long firstMillis) {
    this.firstMillis = firstMillis;
  }

  /** Whether the slot may be tried now. */
  synchronized boolean isDue(String slot) {
    Retry retry = retries.get(slot);
    return retry == null || System.nanoTime() - retry.notBefore >= 0;
  }

  /**
   * The slot failed.
   *
   * @return milliseconds until it may be tried again
   */
  synchronized long failed(String slot) {
    Retry before = retries.get(slot);
    long delay = before == null ? firstMillis : Math.min(LONGEST_MILLIS, before.delayMillis * 2);
    long notBefore = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
    retries.put(slot, new Retry(notBefore, delay));
    return delay;
  }

  /** The slot is drained. */
  synchronized void forget(String slot) {
    retries.remove(slot);
  }
}
