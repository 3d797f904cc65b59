package org.questdbsf.slot;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says why a producer has to wait for room in a ring. Producer thread only. */
final class StallReport {
  /** Time after which a wait is warned about, and between two such warnings. */
  static final long WARN_MILLIS = 5000;

  private static final Logger LOG = LoggerFactory.getLogger(StallReport.class);

  private final RingState state;
  private long lastWarning = Long.MIN_VALUE;

  StallReport(RingState state) {
    this.state = state;
  }

  /** Warns of a wait that is long, now and then. */
  void warn(int len, RingState.Shortage why, long waitedMillis, Supplier<String> detail) {
    if (waitedMillis < WARN_MILLIS) {
      return;
    }
    long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    if (lastWarning == Long.MIN_VALUE || now - lastWarning >= WARN_MILLIS) {
      lastWarning = now;
      LOG.warn("{}", describe(len, why, waitedMillis, detail));
    }
  }

  /**
   * One sentence about a wait.
   *
   * @param len bytes of the frame that there is no room for
   * @param detail what the sender is doing
   */
  String describe(int len, RingState.Shortage why, long waitedMillis, Supplier<String> detail) {
    String reason =
        switch (why) {
          case NONE -> "the next segment is not made yet";
          case BUDGET -> "the budget is used up";
          case DISK ->
              "the disk is full (sf_min_free_bytes="
                  + state.settings.minFreeBytes()
                  + " is kept free)";
        };
    return "slot "
        + state.slot
        + ": no room for a frame of "
        + len
        + " bytes for "
        + waitedMillis
        + " ms: "
        + reason
        + "; this ring holds "
        + state.share.usedBytes()
        + " bytes of sf_max_total_bytes="
        + state.share.totalBytes()
        + ", frames "
        + (state.ackedFsn + 1)
        + " to "
        + state.publishedFsn()
        + " unacknowledged; "
        + detail.get();
  }
}
