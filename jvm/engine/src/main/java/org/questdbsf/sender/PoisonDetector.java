package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Counts how often the frame at the head of the line was refused (facts, section on the poison
 * detector). A refusal that does not speak for the server at the moment is a strike. A frame is
 * poison when it has enough strikes and the first of them is old enough. Reaching the frame with an
 * acknowledgement forgets it; a mere reconnect does not. Send loop's thread only.
 */
final class PoisonDetector {
  private static final long NONE = -1;
  private static final int MOST_DOUBLINGS = 6;

  private final int maxStrikes;
  private final long windowNanos;
  private final long initialPauseMillis;
  private final long maxPauseMillis;
  private final RandomGenerator random;

  private long suspect = NONE;
  private int refusals;
  private long firstRefusal;
  private int strikes;
  private long firstStrike;

  PoisonDetector(
      int maxStrikes,
      long windowMillis,
      long initialPauseMillis,
      long maxPauseMillis,
      RandomGenerator random) {
    this.maxStrikes = maxStrikes;
    this.windowNanos = TimeUnit.MILLISECONDS.toNanos(windowMillis);
    this.initialPauseMillis = initialPauseMillis;
    this.maxPauseMillis = maxPauseMillis;
    this.random = random;
  }

  /**
   * Counts one refusal of the frame {@code headFsn} at {@code now} (nanoseconds).
   *
   * @param strike whether the frame may be at fault
   */
  void refused(long headFsn, boolean strike, long now) {
    if (suspect != headFsn) {
      suspect = headFsn;
      refusals = 0;
      firstRefusal = now;
      strikes = 0;
    }
    refusals++;
    if (strike && ++strikes == 1) {
      firstStrike = now;
    }
  }

  /** Everything up to {@code fsn} is acknowledged, or given up. */
  void settled(long fsn) {
    if (suspect != NONE && fsn >= suspect) {
      suspect = NONE;
      refusals = 0;
      strikes = 0;
    }
  }

  /** Whether both limits are reached. */
  boolean isPoison(long now) {
    return suspect != NONE && strikes >= maxStrikes && now - firstStrike >= windowNanos;
  }

  int refusals() {
    return refusals;
  }

  /** When the suspect was refused first, in nanoseconds; meaningless without a refusal. */
  long firstRefusal() {
    return firstRefusal;
  }

  /** When the suspect had its first strike, in nanoseconds; meaningless without one. */
  long firstStrike() {
    return firstStrike;
  }

  /** How long to wait before the frame is sent again: doubles with each refusal, with jitter. */
  long pauseMillis() {
    if (refusals == 0) {
      return 0;
    }
    long dose = initialPauseMillis << Math.min(refusals - 1, MOST_DOUBLINGS);
    dose = Math.max(1, Math.min(dose, maxPauseMillis));
    return dose + random.nextLong(dose);
  }
}
