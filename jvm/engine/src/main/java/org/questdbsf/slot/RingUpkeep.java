package org.questdbsf.slot;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the keeper does for one ring, in this order: trim, spare, force, marks. Runs on the keeper's
 * thread only.
 */
final class RingUpkeep implements SegmentKeeper.Task {
  private static final Logger LOG = LoggerFactory.getLogger(RingUpkeep.class);
  private static final long FULL_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
  private static final long MARKS_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long DISK_FULL_WARN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final RingState state;
  private final SegmentStorage storage;
  private final long syncNanos;

  /** Whether new frames and acknowledgements are noticed at the latest at the next due time. */
  private volatile boolean watching;

  private Marks written = Marks.EMPTY;
  private Marks forced = Marks.EMPTY;
  private long lastMarks;
  private long lastSync;
  private long retryTrimAt;
  private long trimPause;
  private boolean namesDirty;
  private long warnedFull;
  private boolean everWarnedFull;

  RingUpkeep(RingState state, long now) {
    this.state = state;
    this.storage = state.storage;
    this.watching = !storage.durable();
    // Whoever made the segments of a recovered slot may not have come to force their names.
    this.namesDirty = state.storage.durable();
    this.syncNanos =
        state.storage.durable() && state.settings.durability() == Durability.PERIODIC
            ? TimeUnit.MILLISECONDS.toNanos(state.settings.syncIntervalMillis())
            : Long.MAX_VALUE;
    this.lastMarks = now - MARKS_PAUSE_NANOS;
    this.lastSync = now;
    this.retryTrimAt = now;
  }

  /** What the slot's files say when the ring starts. */
  void begin(Marks onDisk) {
    written = onDisk;
  }

  /**
   * Whether nobody need wake the keeper for a frame, or for an acknowledgement inside a segment.
   */
  boolean watching() {
    return watching;
  }

  @Override
  public long service(long now) {
    try {
      long pause = trim(now);
      pause = Math.min(pause, makeSpare(now));
      pause = Math.min(pause, force(now));
      return Math.min(pause, marks(now));
    } catch (RuntimeException | Error e) {
      LOG.error("slot {}: upkeep failed; the slot takes no more frames", state.slot, e);
      state.failDisk(
          new SfException(
              ErrorCode.DISK_FAILED, "slot " + state.slot + ": upkeep failed: " + e, e));
      return Long.MAX_VALUE;
    }
  }

  /** Destroys segments that are wholly acknowledged, after the marks that say so are forced. */
  private long trim(long now) {
    long acked = state.ackedFsn;
    Segment oldest = state.head;
    if (oldest == null || !oldest.endsBy(acked) || state.diskFailed()) {
      return Long.MAX_VALUE;
    }
    if (retryTrimAt - now > 0) {
      return retryTrimAt - now;
    }
    if (storage.durable() && !forceMarks(acked)) {
      return Long.MAX_VALUE;
    }
    try {
      while (oldest.endsBy(acked)) {
        storage.remove(oldest);
        namesDirty = true;
        Segment next = oldest.next();
        state.head = next;
        state.share.give(oldest.capacity());
        oldest = next;
      }
    } catch (IOException e) {
      trimPause = Math.min(FULL_RETRY_NANOS, Math.max(FIRST_RETRY_NANOS, trimPause * 2));
      retryTrimAt = now + trimPause;
      LOG.warn(
          "slot {}: cannot delete {} ({}); trying again", state.slot, oldest.label(), e.toString());
      return trimPause;
    }
    trimPause = 0;
    forceNames();
    return Long.MAX_VALUE;
  }

  private boolean forceMarks(long acked) {
    Marks marks = state.marks(acked);
    if (forced.acked() >= acked && forced.head() >= marks.head()) {
      return true;
    }
    try {
      storage.writeMarks(marks, true);
      forced = marks;
      written = marks;
      return true;
    } catch (IOException e) {
      failForce("watermark and witness", e);
      return false;
    }
  }

  private boolean forceNames() {
    try {
      storage.forceNames();
      namesDirty = false;
      return true;
    } catch (IOException e) {
      failForce("the directory", e);
      return false;
    }
  }

  /** Sees to it that the next rotation finds a segment. */
  private long makeSpare(long now) {
    if (state.failure() != null) {
      state.share.stopWaiting(); // what comes free is for others
      return Long.MAX_VALUE;
    }
    if (state.spare.get() != null || state.closed) {
      return Long.MAX_VALUE;
    }
    int bytes = (int) state.settings.segmentBytes();
    if (!state.share.tryTake(bytes)) {
      state.shortage(RingState.Shortage.BUDGET);
      return Long.MAX_VALUE; // the share wakes us
    }
    try {
      if (storage.usableBytes() - bytes < state.settings.minFreeBytes()) {
        return diskFull(bytes, now);
      }
      Segment made = storage.create();
      namesDirty = true;
      state.offerSpare(made);
      return Long.MAX_VALUE;
    } catch (DiskFullException e) {
      return diskFull(bytes, now);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      giveBack(bytes);
      state.spareTrouble(
          new SfException(
              ErrorCode.DISK_FAILED,
              "slot " + state.slot + ": cannot make a new segment: " + e.getMessage(),
              e));
      return Long.MAX_VALUE; // the next producer that needs it wakes us
    }
  }

  private long diskFull(int bytes, long now) {
    giveBack(bytes);
    state.shortage(RingState.Shortage.DISK);
    if (!everWarnedFull || now - warnedFull >= DISK_FULL_WARN_NANOS) {
      everWarnedFull = true;
      warnedFull = now;
      LOG.warn(
          "slot {}: no room on the disk for a segment of {} bytes above the floor of"
              + " sf_min_free_bytes={}; the producer waits",
          state.slot,
          bytes,
          state.settings.minFreeBytes());
    }
    return FULL_RETRY_NANOS;
  }

  private void giveBack(int bytes) {
    state.share.give(bytes);
    state.share.stopWaiting();
  }

  /** Forces what a producer asked for, and what the interval asks for. */
  private long force(long now) {
    if (!storage.durable() || state.diskFailed()) {
      return Long.MAX_VALUE;
    }
    boolean due = syncNanos != Long.MAX_VALUE && now - lastSync >= syncNanos;
    long published = state.publishedFsn();
    if (state.forceTarget > state.forcedFsn || (due && published > state.forcedFsn)) {
      forceUpTo(published);
      lastSync = now;
    } else if (due) {
      lastSync = now;
    }
    return syncNanos == Long.MAX_VALUE ? syncNanos : lastSync + syncNanos - now;
  }

  private void forceUpTo(long published) {
    Segment at = state.head;
    try {
      for (; at != null && at.baseFsn() <= published; at = at.next()) {
        if (!at.endsBy(state.forcedFsn)) {
          storage.force(at);
        }
      }
    } catch (IOException e) {
      failForce("segment " + at.label(), e);
      return;
    }
    if (!namesDirty || forceNames()) {
      state.forced(published);
    }
  }

  private void failForce(String what, IOException e) {
    state.failDisk(
        new SfException(
            ErrorCode.DISK_FAILED,
            "slot "
                + state.slot
                + ": cannot force "
                + what
                + " to disk: "
                + e.getMessage()
                + "; what the system did with the unwritten pages is not known, so the slot takes"
                + " no more frames. Those it holds are still sent",
            e));
  }

  /** Keeps the files that say how far the ring is at most a pause behind. */
  private long marks(long now) {
    if (!storage.durable()) {
      return Long.MAX_VALUE;
    }
    Marks marks = state.marks(state.ackedFsn);
    if (marks.equals(written) || state.diskFailed()) {
      watching = false;
      // What came between the look above and the store did not wake us: look again. The fence keeps
      // that look behind the store, as the producer's and the consumer's keep theirs.
      VarHandle.fullFence();
      return state.marks(state.ackedFsn).equals(marks) ? Long.MAX_VALUE : 0;
    }
    long since = now - lastMarks;
    if (since < MARKS_PAUSE_NANOS) {
      watching = true;
      return MARKS_PAUSE_NANOS - since;
    }
    try {
      storage.writeMarks(marks, false);
      written = marks;
      lastMarks = now;
    } catch (IOException e) {
      lastMarks = now + FULL_RETRY_NANOS;
      LOG.warn(
          "slot {}: cannot write watermark and witness ({}); trying again",
          state.slot,
          e.getMessage());
    }
    watching = true;
    return MARKS_PAUSE_NANOS;
  }
}
