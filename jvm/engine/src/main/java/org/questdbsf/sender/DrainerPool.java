package org.questdbsf.sender;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.SlotDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adopts orphaned slots: looks at the start and every 30 s, and sends what it finds, at most {@code
 * max_background_drainers} slots at once, each with a connection of its own (client spec, section
 * on orphan adoption). One pool per JVM and target; its counters and {@link #close} may be used by
 * any thread.
 *
 * <p>A huge slot that is read, or a server that takes its time, delays no other slot, no other
 * pool, and not {@link #close}.
 *
 * <p>A slot is marked {@code .failed} only for damage that recovery proved and for a frame that the
 * server rejected, and with the plain sender's preset also where the outage budget ran out or a
 * credential was refused. All other failures leave {@code .last_error} and are tried again, less
 * and less often.
 */
public final class DrainerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DrainerPool.class);
  private static final long LOOK_MILLIS = 100;
  private static final long CLOSE_MILLIS = 60_000;
  private static final Set<ErrorCode> PROVEN =
      EnumSet.of(ErrorCode.SLOT_REFUSED, ErrorCode.SERVER_REJECTED, ErrorCode.POISON_FRAME);
  private static final Set<ErrorCode> SPEC_GIVES_UP =
      EnumSet.of(
          ErrorCode.AUTH_FAILED,
          ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
          ErrorCode.DURABLE_ACK_UNAVAILABLE);

  /** A slot being sent: {@code publishedFsn − ackedFsn} frames are left. */
  public record Progress(String slot, long ackedFsn, long publishedFsn) {}

  private final SenderConfig config;
  private final OrphanScanner scanner;
  private final DeadLetterSink deadLetters;
  private final Function<String, SenderErrorHandler> errors;
  private final DrainListener listener;
  private final SuspendedTables suspended;
  private final SegmentKeeper keeper;
  private final DiskIo io;
  private final Executor workers;
  private final DrainerTurns turns;
  private final DrainerEnds ending;
  private final long scanMillis;
  private final List<Drainer> active = new CopyOnWriteArrayList<>();
  private final DrainerRetries retries;

  private volatile long succeeded;
  private volatile long failed;
  private volatile int failedSlots;
  private volatile int strandedSlots;
  private volatile long ends;

  // Guarded by this, which nobody holds while a disk or a server is waited for.
  private final Set<String> starting = new HashSet<>();
  private final Set<Thread> opening = new HashSet<>();
  private long nextScan = System.nanoTime();
  private boolean closed;

  DrainerPool(DrainerPoolBuilder builder) {
    SenderConfig drain =
        builder
            .config
            .with(ConnectKey.DRAIN_ORPHANS, "off")
            .with(ConnectKey.INITIAL_CONNECT_RETRY, "async")
            .with(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0");
    boolean sink = drain.preset() == ConfigPreset.SINK;
    this.config = sink ? drain.with(ConnectKey.RECONNECT_MAX_DURATION_MILLIS, "0") : drain;
    this.scanner = new OrphanScanner(builder.config, builder.own, builder.io);
    this.deadLetters = builder.deadLetters;
    this.errors = builder.errors;
    this.listener = builder.listener;
    this.suspended = builder.suspended;
    this.keeper = builder.keeper;
    this.io = builder.io;
    this.workers = builder.workers;
    this.scanMillis = builder.scanMillis;
    this.retries = new DrainerRetries(scanMillis);
    this.ending = new DrainerEnds(workers);
    this.turns = new DrainerTurns(workers, this::turn, this::untilNextTurn, this::complain);
  }

  /** A pool for the slots in {@code sf_dir} whose frames may go where {@code own} says. */
  public static DrainerPoolBuilder builder(SenderConfig config, SlotTarget own) {
    return new DrainerPoolBuilder(config, own);
  }

  /** Slots being sent now. */
  public int active() {
    return active.size();
  }

  /** How far the slots being sent now are, by name. */
  public List<Progress> progress() {
    return active.stream()
        .map(drainer -> new Progress(drainer.name(), drainer.ackedFsn(), drainer.publishedFsn()))
        .toList();
  }

  /** Slots that were drained. */
  public long succeeded() {
    return succeeded;
  }

  /** Slots that were marked {@code .failed} here. */
  public long failed() {
    return failed;
  }

  /** Slots in scope that wait for an operator, at the last look. */
  public int failedSlots() {
    return failedSlots;
  }

  /** Slots in scope that belong to another target, at the last look. */
  public int strandedSlots() {
    return strandedSlots;
  }

  /** Tables of the slots being sent now that are suspended; names in lower case. */
  public Set<String> suspendedTables() {
    return active.stream()
        .flatMap(drainer -> drainer.suspendedTables().stream())
        .collect(Collectors.toSet());
  }

  /** Begins to look, at once. */
  void begin() {
    turns.next(0);
  }

  private void turn() {
    try {
      look();
      if (scanIsDue()) {
        scan();
      }
    } catch (RuntimeException | Error e) { // thrown on, it would end adopting for good
      complain(e);
    }
  }

  private void complain(Throwable e) {
    LOG.error("Adopting orphans in {} failed; it is tried again", config.sfDir().get(), e);
  }

  private synchronized long untilNextTurn() {
    long untilScan = TimeUnit.NANOSECONDS.toMillis(nextScan - System.nanoTime());
    boolean busy = !active.isEmpty() || !starting.isEmpty() || !ending.isEmpty();
    return busy ? LOOK_MILLIS : Math.max(1, untilScan);
  }

  /** Whether to scan; where the scan fails, the next one is not made at once. */
  private synchronized boolean scanIsDue() {
    boolean due = !closed && System.nanoTime() - nextScan >= 0;
    if (due) {
      nextScan = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(scanMillis);
    }
    return due;
  }

  /** There is room for another slot, and what a running scan saw is out of date. */
  private synchronized void scanSoon() {
    nextScan = System.nanoTime();
    ends++;
  }

  private void look() {
    for (Drainer drainer : active) {
      SfException error = drainer.error().orElse(null);
      if (error != null) {
        end(drainer, () -> failed(drainer, error));
      } else if (drainer.isDrained()) {
        end(drainer, () -> drained(drainer));
      }
    }
  }

  private void end(Drainer drainer, Runnable how) {
    synchronized (this) {
      if (starting.contains(drainer.name()) && !closed || !active.remove(drainer)) {
        return; // it is yet to be told that it started, or somebody else ends it
      }
      ending.add(drainer.name());
    }
    ending.run(() -> endNow(drainer, how));
  }

  private void endNow(Drainer drainer, Runnable how) {
    try {
      how.run();
    } catch (RuntimeException | Error e) { // a listener's: the slot is given back already
      complain(e);
    } finally {
      ended(drainer.name());
    }
  }

  private synchronized void ended(String slot) {
    ending.remove(slot);
    scanSoon();
  }

  private void drained(Drainer drainer) {
    long last = drainer.publishedFsn();
    drainer.close();
    retries.forget(drainer.name());
    synchronized (this) {
      succeeded++;
    }
    LOG.info("Orphaned slot {} is drained up to frame {}", drainer.name(), last);
    listener.drained(drainer.name(), last);
  }

  private void failed(Drainer drainer, SfException error) {
    boolean givenUp = givesUp(error.code());
    try {
      if (givenUp) {
        drainer.markFailed(error);
        countFailed();
      } else {
        drainer.noteError(error);
      }
    } catch (SfException unwritten) {
      error.addSuppressed(unwritten);
      givenUp = false;
    } finally {
      drainer.close();
    }
    report(drainer.name(), error, givenUp);
  }

  private synchronized void countFailed() {
    failed++;
    failedSlots++;
  }

  private boolean givesUp(ErrorCode code) {
    boolean spec = config.preset() == ConfigPreset.ENGINE && SPEC_GIVES_UP.contains(code);
    return spec || PROVEN.contains(code);
  }

  private void report(String slot, SfException error, boolean givenUp) {
    if (givenUp) {
      LOG.error("Orphaned slot {} is marked .failed: {}", slot, error.getMessage());
    } else {
      long delay = retries.failed(slot);
      LOG.warn("Orphaned slot {} is tried again in {} ms: {}", slot, delay, error.getMessage());
    }
    listener.failed(slot, error, givenUp);
  }

  private void scan() {
    long failedBefore = failed;
    long endsBefore = ends;
    OrphanScanner.Scan found = scanner.scan();
    synchronized (this) {
      if (failed == failedBefore) { // else the scan may not have seen it; the next one does
        failedSlots = found.failed();
      }
      strandedSlots = found.stranded();
    }
    found.candidates().stream()
        .filter(orphan -> claim(orphan.name(), endsBefore))
        .forEach(this::adopt);
  }

  /** Not where a slot ended since the scan began: it may be this one, and be marked by now. */
  private synchronized boolean claim(String slot, long endsBefore) {
    boolean room = active.size() + starting.size() < config.maxBackgroundDrainers();
    boolean mayBegin = room && !closed && ends == endsBefore;
    return mayBegin && !ending.contains(slot) && retries.isDue(slot) && starting.add(slot);
  }

  private void adopt(OrphanScanner.Orphan orphan) {
    boolean begun = false;
    try {
      workers.execute(() -> start(orphan));
      begun = true;
    } finally {
      if (!begun) { // no thread to be had: the next scan finds it again
        unclaim(orphan.name());
      }
    }
  }

  private synchronized void unclaim(String slot) {
    starting.remove(slot);
  }

  /** Opens a slot, which may read gigabytes, and begins to send it; on a thread of its own. */
  private void start(OrphanScanner.Orphan orphan) {
    try {
      Drainer drainer = open(orphan);
      if (!enter(drainer)) {
        drainer.close();
        return;
      }
      LOG.info(
          "Orphaned slot {} is adopted: frames {} to {} are to be sent",
          orphan.name(),
          drainer.ackedFsn() + 1,
          drainer.publishedFsn());
      listener.started(orphan.name(), drainer.ackedFsn(), drainer.publishedFsn());
    } catch (InterruptedException e) {
      LOG.debug("Opening orphaned slot {} is interrupted by close", orphan.name());
    } catch (SfException e) {
      unopened(orphan, e);
    } catch (RuntimeException | Error e) {
      complain(e);
    } finally {
      unclaim(orphan.name());
    }
  }

  private synchronized boolean enter(Drainer drainer) {
    return !closed && active.add(drainer);
  }

  private void unopened(OrphanScanner.Orphan orphan, SfException e) {
    if (e.code() == ErrorCode.SLOT_LOCKED) {
      LOG.debug("Slot {} was taken meanwhile", orphan.name());
      return;
    }
    report(orphan.name(), e, e.code() == ErrorCode.SLOT_REFUSED && markRefused(orphan, e));
    scanSoon();
  }

  private boolean markRefused(OrphanScanner.Orphan orphan, SfException error) {
    try {
      SlotDirectory.markFailed(config.sfDir().orElseThrow(), orphan.name(), error.getMessage(), io);
    } catch (SfException unwritten) {
      error.addSuppressed(unwritten);
      return false;
    }
    countFailed();
    return true;
  }

  /** Opening alone is interrupted by close: elsewhere an interrupt would close files. */
  private Drainer open(OrphanScanner.Orphan orphan) throws InterruptedException {
    synchronized (this) {
      if (closed) {
        throw new InterruptedException("closed");
      }
      opening.add(Thread.currentThread());
    }
    try {
      SenderErrorHandler told = errors.apply(orphan.name());
      return Drainer.open(orphan, config, deadLetters, told, suspended, keeper, io);
    } finally {
      synchronized (this) {
        opening.remove(Thread.currentThread());
        // An interrupt that came too late must not hit what follows.
        Thread.interrupted();
      }
    }
  }

  /**
   * Stops sending; what is not acknowledged stays for the next adopter. Takes at most a minute,
   * whatever servers and disks do; what takes longer ends in the background. Where no thread is to
   * be had for that, the caller waits for it.
   */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      turns.close();
      opening.forEach(Thread::interrupt);
    }
    for (Drainer drainer : active) {
      end(drainer, drainer::close);
    }
    if (!ending.await(CLOSE_MILLIS)) {
      LOG.warn("Some orphaned slots in {} take long to be given back", config.sfDir().get());
    }
  }
}
