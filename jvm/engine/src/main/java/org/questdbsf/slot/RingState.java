package org.questdbsf.slot;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * What producer, consumer and keeper of one ring share. Each field has one writer; producers wait
 * here for the keeper.
 */
final class RingState {
  private static final VarHandle PUBLISHED;

  static {
    try {
      PUBLISHED = MethodHandles.lookup().findVarHandle(RingState.class, "publishedFsn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Why no spare can be made at the moment. */
  enum Shortage {
    NONE,
    BUDGET,
    DISK
  }

  final String slot;
  final SegmentStorage storage;
  final SegmentBudget.Share share;
  final RingSettings settings;
  final AtomicReference<Segment> spare = new AtomicReference<>();

  /** Oldest segment. Written by the producer once, while null, and then by the keeper. */
  volatile Segment head;

  /** Up to here an earlier owner of the slot forced; −1 for none. */
  private final long forcedEarlier;

  /** Written by the consumer. */
  volatile long ackedFsn;

  /** All up to here is on stable storage. Written by the keeper. */
  volatile long forcedFsn;

  /** What a producer wants forced. Written by the producer. */
  volatile long forceTarget;

  /** Written by the producer when it begins to wait. */
  volatile long stalls;

  volatile boolean closed;

  /** The disk cannot be trusted: what was not forced never counts as forced. */
  private volatile boolean diskFailed;

  private volatile SfException failure;
  private volatile Shortage shortage = Shortage.NONE;
  private final AtomicReference<SfException> spareTrouble = new AtomicReference<>();

  /** Written by the producer; the release store that makes a frame's bytes visible. */
  private volatile long publishedFsn;

  RingState(
      String slot,
      SegmentStorage storage,
      SegmentBudget.Share share,
      RingSettings settings,
      Segment head,
      long publishedFsn,
      long ackedFsn,
      long forcedEarlier) {
    this.slot = slot;
    this.storage = storage;
    this.share = share;
    this.settings = settings;
    this.head = head;
    this.publishedFsn = publishedFsn;
    this.ackedFsn = ackedFsn;
    this.forcedEarlier = forcedEarlier;
    this.forcedFsn = -1; // what a crash left behind may be in the page cache only
    this.forceTarget = -1;
  }

  void publish(long fsn) {
    PUBLISHED.setRelease(this, fsn);
  }

  long publishedFsn() {
    return (long) PUBLISHED.getAcquire(this);
  }

  /** How far the ring is, with everything up to an FSN acknowledged. */
  Marks marks(long acked) {
    Segment needed = head;
    while (needed != null && needed.endsBy(acked)) {
      needed = needed.next();
    }
    long oldest = needed == null ? acked + 1 : needed.baseFsn();
    return new Marks(acked, oldest, publishedFsn(), Math.max(forcedFsn, forcedEarlier));
  }

  SfException failure() {
    return failure;
  }

  /** Ends appending for good; the first reason stays. */
  synchronized SfException fail(SfException reason) {
    if (failure == null) {
      failure = reason;
    }
    notifyAll();
    return failure;
  }

  /** Ends appending for good because the disk failed; nothing is deleted or forced from now on. */
  SfException failDisk(SfException reason) {
    diskFailed = true;
    return fail(reason);
  }

  boolean diskFailed() {
    return diskFailed;
  }

  /** A fault in a map: everything since the last fence is in doubt. */
  SfException poison(InternalError cause, Segment segment) {
    return failDisk(
        new SfException(
            ErrorCode.DISK_FAILED,
            "slot "
                + slot
                + ": the map of segment "
                + (segment == null ? "?" : segment.label())
                + " faulted; was the file truncated, or did the disk fail? The slot takes no more"
                + " frames; look at it with 'questdb-sf slots show' before it is used again",
            cause));
  }

  /** Throws what ended appending, a fresh exception that has the caller's stack. */
  void checkUsable() {
    SfException f = failure;
    if (f != null) {
      throw new SfException(f.code(), withoutCode(f), f);
    }
    if (closed) {
      throw new SfException(ErrorCode.SENDER_CLOSED, "slot " + slot + ": the ring is closed");
    }
  }

  private static String withoutCode(SfException e) {
    return e.getMessage().substring(e.code().name().length() + 2);
  }

  synchronized void close() {
    closed = true;
    notifyAll();
  }

  Shortage shortage() {
    return shortage;
  }

  synchronized void shortage(Shortage now) {
    if (shortage != now) {
      shortage = now;
      notifyAll();
    }
  }

  /** Hands a spare, or room for one, to a waiting producer. */
  synchronized void offerSpare(Segment segment) {
    spare.set(segment);
    shortage = Shortage.NONE;
    spareTrouble.set(null);
    notifyAll();
  }

  /** Reports to a waiting producer that making a spare failed for another reason than room. */
  synchronized void spareTrouble(SfException e) {
    spareTrouble.set(e);
    notifyAll();
  }

  /** Takes that report, null when there is none. */
  SfException takeSpareTrouble() {
    return spareTrouble.getAndSet(null);
  }

  /** Waits until there may be a spare, or something else to tell the producer. */
  synchronized void awaitSpare(Shortage seen, long millis) throws InterruptedException {
    if (spare.get() == null
        && spareTrouble.get() == null
        && failure == null
        && !closed
        && shortage == seen) {
      wait(Math.max(1, millis));
    }
  }

  /** Waits until everything up to an FSN is forced, or appending ended. */
  synchronized void awaitForced(long fsn) throws InterruptedException {
    while (forcedFsn < fsn && failure == null && !closed) {
      wait();
    }
  }

  synchronized void forced(long fsn) {
    if (fsn > forcedFsn) {
      forcedFsn = fsn;
      notifyAll();
    }
  }
}
