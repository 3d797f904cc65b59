package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A locked, recovered slot on disk and its ring. All disk work is done by the keeper's threads, so
 * that an interrupted caller closes no file.
 */
public final class Slot implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Slot.class);
  private static final long CLOSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final String name;
  private final Path directory;
  private final DiskIo io;
  private final SegmentKeeper keeper;
  private final SlotLock lock;
  private final RingState state;
  private final SegmentRing ring;
  private final SlotRecovery recovery;
  private final RecoveryReport report;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean settled;

  Slot(
      String name,
      Path directory,
      DiskIo io,
      SegmentKeeper keeper,
      SlotLock lock,
      RingState state,
      SegmentRing ring,
      SlotRecovery recovery) {
    this.name = name;
    this.directory = directory;
    this.io = io;
    this.keeper = keeper;
    this.lock = lock;
    this.state = state;
    this.ring = ring;
    this.recovery = recovery;
    this.report = recovery.report();
  }

  /**
   * Locks and recovers a slot, or makes it, ready for use. The caller waits, interruptibly; after
   * an interrupt the slot is closed again as soon as it is open.
   *
   * @param sfDir holds the slots; made when it is not there
   * @param name the slot, a directory in it
   * @param share this slot's part of the budget. From this call on it belongs to the slot, which
   *     closes it at its end, and also when this method throws.
   * @param keeper usually {@link SegmentKeeper#shared}
   * @param io usually {@link DiskIo#PRODUCTION}
   * @throws SfException {@link ErrorCode#SLOT_LOCKED}, {@link ErrorCode#SLOT_REFUSED}, {@link
   *     ErrorCode#SLOT_NEWER_FORMAT}, {@link ErrorCode#SLOT_FILESYSTEM}: nothing of an existing
   *     slot was changed; {@link ErrorCode#DISK_FULL}, {@link ErrorCode#DISK_FAILED}: trying again
   *     does no harm
   */
  public static Slot open(
      Path sfDir,
      String name,
      RingSettings settings,
      SegmentBudget.Share share,
      SegmentKeeper keeper,
      DiskIo io)
      throws InterruptedException {
    return new SlotOpener(sfDir, name, settings, share, keeper, io).open(true);
  }

  /**
   * The same for a caller that wants to look into the frames first: as long as it has not called
   * {@link #settle}, the ring can be read, and {@link #close} leaves every byte as it was.
   */
  public static Slot openToLook(
      Path sfDir,
      String name,
      RingSettings settings,
      SegmentBudget.Share share,
      SegmentKeeper keeper,
      DiskIo io)
      throws InterruptedException {
    return new SlotOpener(sfDir, name, settings, share, keeper, io).open(false);
  }

  Slot settledOrClosed() throws IOException {
    try {
      settleHere();
      return this;
    } catch (IOException | RuntimeException | Error e) {
      try {
        closeHere();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Takes the slot into use: what recovery found is put right, and its ring may be appended to. A
   * second call does nothing.
   *
   * @throws SfException {@link ErrorCode#DISK_FAILED}, {@link ErrorCode#DISK_FULL}
   */
  public void settle() {
    if (!settled) {
      change(
          "take slot " + directory + " into use",
          () -> {
            settleHere();
            return null;
          });
    }
  }

  private void settleHere() throws IOException {
    lock.sign();
    SlotDirectory.mark(directory.getParent(), io);
    int position = recovery.settle();
    settled = true;
    if (!report.notes().isEmpty()) {
      LOG.warn("slot {}: recovered; {}", directory, String.join("; ", report.notes()));
    }
    ring.start(position, recovery.marks());
  }

  /** The slot's frames; closed by {@link #close}. */
  public SegmentRing ring() {
    return ring;
  }

  /** What recovery found. */
  public RecoveryReport report() {
    return report;
  }

  /** The slot directory, absolute. */
  public Path directory() {
    return directory;
  }

  /** The slot's name. */
  public String name() {
    return name;
  }

  /** Whether recovery found no frame. */
  public boolean startedEmpty() {
    return report.frames() == 0;
  }

  /**
   * Writes {@code .target} and forces it; to be called before the first frame. Keys are of {@code
   * A-Z a-z 0-9 _ . -}; values are any text, without secrets.
   */
  public void writeTarget(Map<String, String> target) {
    write(SideFile.TARGET, SideFile.encode(target));
  }

  /** Writes {@code .failed} and forces it: adopters leave the slot alone until it is deleted. */
  public void writeFailed(String reason) {
    write(SideFile.FAILED, reason + "\n");
  }

  /** Writes {@code .last_error} and forces it: a note for people, without effect. */
  public void writeLastError(String text) {
    write(SideFile.LAST_ERROR, text + "\n");
  }

  /** Deletes {@code .failed}, if there is one. */
  public void clearFailed() {
    change(
        "delete " + directory.resolve(SideFile.FAILED),
        () -> {
          io.delete(directory.resolve(SideFile.FAILED));
          io.forceDirectory(directory);
          return null;
        });
  }

  private void write(String file, String text) {
    change(
        "write " + directory.resolve(file),
        () -> {
          SideFile.write(directory, file, text, io);
          return null;
        });
  }

  private void change(String what, Callable<Void> work) {
    if (closed.get()) {
      throw new SfException(ErrorCode.SENDER_CLOSED, "slot " + name + " is closed");
    }
    if (!await(work, what)) {
      throw new SfException(
          ErrorCode.DISK_FAILED,
          "cannot "
              + what
              + ": the disk did not answer for "
              + TimeUnit.NANOSECONDS.toSeconds(CLOSE_WAIT_NANOS)
              + " s");
    }
  }

  /**
   * Closes the ring and gives the lock back. When every frame is acknowledged the slot is left
   * empty but for its lock files; otherwise all of it stays for the next owner, forced unless
   * durability is MEMORY. Producer and consumer must have stopped: the maps go away. Not ended by
   * an interrupt; waits at most 30 s, after which the work, and the lock, end in the background. A
   * second call does nothing.
   *
   * @throws SfException {@link ErrorCode#DISK_FAILED} when something could not be written or
   *     deleted; the lock is given back all the same
   */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    boolean done =
        await(
            () -> {
              closeHere();
              return null;
            },
            "close slot " + directory);
    if (!done) {
      LOG.warn("slot {}: closing takes longer than 30 s and goes on in the background", name);
    }
  }

  void closeHere() throws IOException {
    closed.set(true);
    ring.detach();
    Segment spare = state.spare.getAndSet(null);
    Segment oldest = state.head;
    try (lock) {
      try {
        if (settled) {
          leave(spare, oldest);
        }
      } finally {
        for (Segment s = oldest; s != null; s = s.next()) {
          ((SegmentFile) s).unmap();
        }
        if (spare != null) {
          ((SegmentFile) spare).unmap();
        }
        state.share.close();
      }
    }
  }

  private void leave(Segment spare, Segment oldest) throws IOException {
    if (spare != null) {
      state.storage.remove(spare);
    }
    if (state.ackedFsn == state.publishedFsn()) {
      removeAll(oldest);
    } else {
      keepAll(oldest);
    }
  }

  private void removeAll(Segment oldest) throws IOException {
    if (oldest != null) {
      Marks marks = state.marks(state.ackedFsn);
      long none = marks.written() + 1;
      state.storage.writeMarks(
          new Marks(marks.acked(), none, marks.written(), marks.forced()), true);
    }
    for (Segment s = oldest; s != null; s = s.next()) {
      state.storage.remove(s);
    }
    io.forceDirectory(directory);
    for (String leftover : SlotRecovery.leftovers()) {
      io.delete(directory.resolve(leftover));
    }
    io.forceDirectory(directory);
  }

  private void keepAll(Segment oldest) throws IOException {
    boolean force = state.settings.durability() != Durability.MEMORY && !state.diskFailed();
    if (force) {
      for (Segment s = oldest; s != null; s = s.next()) {
        if (!s.endsBy(state.forcedFsn)) {
          state.storage.force(s);
        }
      }
    }
    io.forceDirectory(directory);
    if (force) {
      state.forced(state.publishedFsn());
    }
    state.storage.writeMarks(state.marks(state.ackedFsn), force);
  }

  /** Runs disk work elsewhere and waits, whatever interrupts come; false when it takes too long. */
  private boolean await(Callable<Void> work, String what) {
    final CompletableFuture<Void> result = keeper.submit(work);
    final long deadline = System.nanoTime() + CLOSE_WAIT_NANOS;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          result.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          return false;
        } catch (ExecutionException e) {
          throw SlotOpener.asOurs(e.getCause(), what);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
