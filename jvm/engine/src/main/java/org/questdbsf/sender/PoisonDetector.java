package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Counts how often the frame at the head of the line was refused (facts, section on the poison
 * detector). A frame is poison when it has enough strikes and the first of them is old enough.
 * Reaching the frame with an acknowledgement forgets it; a mere reconnect does not. Send loop's
 * thread only.
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

  /** Counts one refusal of the frame {@code headFsn} at {@code now} (nanoseconds). */
  void strike(long headFsn, long now) {
    if (suspect != headFsn) {
      suspect = headFsn;
      strikes = 0;
      firstStrike = now;
    }
    strikes++;
  }

  /** Everything up to {@code fsn} is acknowledged, or given up. */
  void settled(long fsn) {
    if (suspect != NONE && fsn >= suspect) {
      suspect = NONE;
      strikes = 0;
    }
  }

  /** Whether both limits are reached. */
  boolean isPoison(long now) {
    return suspect != NONE && strikes >= maxStrikes && now - firstStrike >= windowNanos;
  }

  int strikes() {
    return strikes;
  }

  /** When the suspect was refused first, in nanoseconds; meaningless without a strike. */
  long firstStrike() {
    return firstStrike;
  }

  /** How long to wait before the frame is sent again: doubles with each strike, with jitter. */
  long pauseMillis() {
    if (strikes == 0) {
      return 0;
    }
    long dose = initialPauseMillis << Math.min(strikes - 1, MOST_DOUBLINGS);
    dose = Math.max(1, Math.min(dose, maxPauseMillis));
    return dose + random.nextLong(dose);
  }
}
