package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns while frames wait and none is acknowledged, whatever the reason: no server, one that
 * refuses, or one that is connected and says nothing. Whoever waits behind the ring, a task for
 * example, has no other voice: Spark reports no progress of a batch before it ends. Loop's thread
 * only; times are nanoseconds.
 */
final class StallLog {
  static final long FIRST = SECONDS.toNanos(10);
  static final long AGAIN = SECONDS.toNanos(60);

  private static final Logger LOG = LoggerFactory.getLogger(StallLog.class);

  private final LoopSetup setup;
  private boolean waited;
  private boolean warned;
  private long acked;
  private long since;
  private long next;

  StallLog(LoopSetup setup) {
    this.setup = setup;
  }

  /** To be called now and then, at least each time that a wait ends. */
  void look(long now) {
    String line = look(now, setup.ring().ackedFsn(), setup.ring().publishedFsn());
    if (line != null) {
      SenderState state = setup.status().state();
      LOG.warn(
          "sender '{}': {}; {}, host {}: {}",
          setup.name(),
          line,
          state.kind(),
          state.host(),
          state.kind() == SenderState.Kind.OK ? "connected" : state.cause());
    }
  }

  /**
   * Takes a look.
   *
   * @return what to warn of, or null
   */
  String look(long now, long ackedFsn, long publishedFsn) {
    boolean waits = publishedFsn > ackedFsn;
    if (!waits || !waited || ackedFsn != acked) {
      String over =
          warned ? "frames are acknowledged again after " + seconds(now - since) + " s" : null;
      waited = waits;
      warned = false;
      acked = ackedFsn;
      since = now;
      next = now + FIRST;
      return over;
    }
    if (now - next < 0) {
      return null;
    }
    warned = true;
    next = now + AGAIN;
    return "no frame was acknowledged for "
        + seconds(now - since)
        + " s, "
        + (publishedFsn - ackedFsn)
        + " wait";
  }

  private static long seconds(long nanos) {
    return NANOSECONDS.toSeconds(nanos);
  }
}
