package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
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
 * <p>A slot is marked {@code .failed} only for damage that recovery proved and for a frame that the
 * server rejected, and with the plain sender's preset also where the outage budget ran out or a
 * credential was refused. All other failures leave {@code .last_error} and are tried again, less
 * and less often.
 */
public final class DrainerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DrainerPool.class);
  private static final long LOOK_MILLIS = 100;
  private static final long LONGEST_RETRY_MILLIS = 600_000;
  private static final Set<ErrorCode> PROVEN =
      EnumSet.of(ErrorCode.SLOT_REFUSED, ErrorCode.SERVER_REJECTED, ErrorCode.POISON_FRAME);
  private static final Set<ErrorCode> SPEC_GIVES_UP =
      EnumSet.of(
          ErrorCode.AUTH_FAILED,
          ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
          ErrorCode.DURABLE_ACK_UNAVAILABLE);

  /** A slot being sent: {@code publishedFsn − ackedFsn} frames are left. */
  public record Progress(String slot, long ackedFsn, long publishedFsn) {}

  private record Retry(long notBefore, long delayMillis) {}

  private final SenderConfig config;
  private final OrphanScanner scanner;
  private final DeadLetterSink deadLetters;
  private final Function<String, SenderErrorHandler> errors;
  private final DrainListener listener;
  private final SuspendedTables suspended;
  private final SegmentKeeper keeper;
  private final DiskIo io;
  private final long scanMillis;
  private final List<Drainer> active = new CopyOnWriteArrayList<>();
  private final Map<String, Retry> retries = new HashMap<>();

  private volatile long succeeded;
  private volatile long failed;
  private volatile int failedSlots;
  private volatile int strandedSlots;
  private volatile boolean closed;

  private final Object lock = new Object(); // held while a turn runs
  private long nextScan = System.nanoTime();
  private ScheduledFuture<?> turn; // guarded by this
  private Thread opening; // guarded by this

  private DrainerPool(Builder builder) {
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
    this.scanMillis = builder.scanMillis;
  }

  /** A pool for the slots in {@code sf_dir} whose frames may go where {@code own} says. */
  public static Builder builder(SenderConfig config, SlotTarget own) {
    return new Builder(config, own);
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

  private synchronized void next(long millis) {
    if (!closed) {
      turn = DrainerClock.schedule(this::turn, millis);
    }
  }

  private void turn() {
    try {
      synchronized (lock) {
        lookAndScan();
      }
    } catch (InterruptedException e) {
      LOG.debug("Adopting orphans is interrupted{}", closed ? " by close" : "");
    } catch (RuntimeException | Error e) { // thrown on, it would end adopting for good
      LOG.error("Adopting orphans in {} failed; it is tried again", config.sfDir().get(), e);
    }
    long untilScan = TimeUnit.NANOSECONDS.toMillis(nextScan - System.nanoTime());
    next(active.isEmpty() ? Math.max(1, untilScan) : LOOK_MILLIS);
  }

  private void lookAndScan() throws InterruptedException {
    look();
    if (!closed && System.nanoTime() - nextScan >= 0) {
      // First: where the look fails, the next one is not made at once.
      nextScan = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(scanMillis);
      scan();
      nextScan = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(scanMillis);
    }
  }

  private void look() {
    for (Drainer drainer : active) {
      SfException error = drainer.error().orElse(null);
      if (error != null) {
        failed(drainer, error);
      } else if (drainer.isDrained()) {
        drained(drainer);
      }
    }
  }

  private void drained(Drainer drainer) {
    long last = drainer.publishedFsn();
    active.remove(drainer);
    drainer.close();
    retries.remove(drainer.name());
    succeeded++;
    LOG.info("Orphaned slot {} is drained up to frame {}", drainer.name(), last);
    listener.drained(drainer.name(), last);
    nextScan = System.nanoTime();
  }

  private void failed(Drainer drainer, SfException error) {
    active.remove(drainer);
    boolean givenUp = givesUp(error.code());
    try {
      if (givenUp) {
        drainer.markFailed(error);
        failed++;
        failedSlots++;
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

  private boolean givesUp(ErrorCode code) {
    boolean spec = config.preset() == ConfigPreset.ENGINE && SPEC_GIVES_UP.contains(code);
    return spec || PROVEN.contains(code);
  }

  private void report(String slot, SfException error, boolean givenUp) {
    if (givenUp) {
      LOG.error("Orphaned slot {} is marked .failed: {}", slot, error.getMessage());
    } else {
      Retry before = retries.get(slot);
      long delay =
          before == null ? scanMillis : Math.min(LONGEST_RETRY_MILLIS, before.delayMillis * 2);
      long notBefore = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
      retries.put(slot, new Retry(notBefore, delay));
      LOG.warn("Orphaned slot {} is tried again in {} ms: {}", slot, delay, error.getMessage());
    }
    listener.failed(slot, error, givenUp);
  }

  private void scan() throws InterruptedException {
    OrphanScanner.Scan found = scanner.scan();
    failedSlots = found.failed();
    strandedSlots = found.stranded();
    Iterator<OrphanScanner.Orphan> orphans = found.candidates().iterator();
    while (orphans.hasNext() && active.size() < config.maxBackgroundDrainers() && !closed) {
      OrphanScanner.Orphan orphan = orphans.next();
      Retry retry = retries.get(orphan.name());
      if (retry == null || System.nanoTime() - retry.notBefore >= 0) {
        start(orphan);
      }
    }
  }

  private void start(OrphanScanner.Orphan orphan) throws InterruptedException {
    try {
      Drainer drainer = open(orphan);
      active.add(drainer);
      LOG.info(
          "Orphaned slot {} is adopted: frames {} to {} are to be sent",
          orphan.name(),
          drainer.ackedFsn() + 1,
          drainer.publishedFsn());
      listener.started(orphan.name(), drainer.ackedFsn(), drainer.publishedFsn());
    } catch (SfException e) {
      if (e.code() == ErrorCode.SLOT_LOCKED) {
        LOG.debug("Slot {} was taken meanwhile", orphan.name());
        return;
      }
      report(orphan.name(), e, e.code() == ErrorCode.SLOT_REFUSED && markRefused(orphan, e));
    }
  }

  private boolean markRefused(OrphanScanner.Orphan orphan, SfException error) {
    try {
      SlotDirectory.markFailed(config.sfDir().orElseThrow(), orphan.name(), error.getMessage(), io);
    } catch (SfException unwritten) {
      error.addSuppressed(unwritten);
      return false;
    }
    failed++;
    failedSlots++;
    return true;
  }

  /** Opening may take long; it alone is interrupted by close, since an interrupt closes files. */
  private Drainer open(OrphanScanner.Orphan orphan) throws InterruptedException {
    synchronized (this) {
      if (closed) {
        throw new InterruptedException("closed");
      }
      opening = Thread.currentThread();
    }
    try {
      SenderErrorHandler told = errors.apply(orphan.name());
      return Drainer.open(orphan, config, deadLetters, told, suspended, keeper, io);
    } finally {
      synchronized (this) {
        opening = null;
        // An interrupt that came too late must not hit what follows.
        Thread.interrupted();
      }
    }
  }

  /** Stops sending, bounded in time; what is not acknowledged stays for the next adopter. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (turn != null) {
        turn.cancel(false);
      }
      if (opening != null) {
        opening.interrupt();
      }
    }
    synchronized (lock) {
      List<Drainer> left = new ArrayList<>(active);
      active.clear();
      Drainer.closeAll(left);
    }
  }

  /** Gathers what a {@link DrainerPool} works with. Everything has a default. */
  public static final class Builder {
    private final SenderConfig config;
    private final SlotTarget own;
    private DeadLetterSink deadLetters;
    private Function<String, SenderErrorHandler> errors = slot -> null;
    private DrainListener listener = DrainListener.NONE;
    private SuspendedTables suspended = new SuspendedTables();
    private SegmentKeeper keeper;
    private DiskIo io = DiskIo.PRODUCTION;
    private long scanMillis = 30_000;

    private Builder(SenderConfig config, SlotTarget own) {
      this.config = config;
      this.own = own;
    }

    /** Where dropped frames are kept; default: beside the slots. */
    public Builder deadLetters(DeadLetterSink sink) {
      this.deadLetters = sink;
      return this;
    }

    /** Who is told of rejections; default: the log. */
    public Builder errorHandler(SenderErrorHandler handler) {
      return errorHandlers(slot -> handler);
    }

    /** The same, a handler for each slot by its name; null: the log. */
    public Builder errorHandlers(Function<String, SenderErrorHandler> bySlot) {
      this.errors = bySlot;
      return this;
    }

    public Builder listener(DrainListener told) {
      this.listener = told;
      return this;
    }

    /** What is known of suspended tables, where others share it. */
    public Builder suspended(SuspendedTables shared) {
      this.suspended = shared;
      return this;
    }

    /** Who does the file work; default: the one of this JVM. */
    public Builder keeper(SegmentKeeper shared) {
      this.keeper = shared;
      return this;
    }

    Builder diskIo(DiskIo disk) {
      this.io = disk;
      return this;
    }

    /** Time between two looks, and the first pause before a slot is tried again. */
    Builder scanMillis(long millis) {
      this.scanMillis = millis;
      return this;
    }

    /** Starts to look, at once. */
    public DrainerPool start() {
      if (keeper == null) {
        keeper = SegmentKeeper.shared();
      }
      if (deadLetters == null) {
        deadLetters = new LocalDeadLetters(config.sfDir().orElseThrow());
      }
      DrainerPool pool = new DrainerPool(this);
      pool.next(0);
      return pool;
    }
  }
}
