package org.questdbsf.sender;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Has a {@link DrainerPool} take its turns, one after another, each on a thread that may wait.
 * Where no thread is to be had, the turn is tried again a moment later. Thread-safe.
 */
final class DrainerTurns implements AutoCloseable {
  private static final long NO_THREAD_MILLIS = 1000;

  private final Executor workers;
  private final Runnable work;
  private final LongSupplier untilNextMillis;
  private final Consumer<Throwable> complain;
  private final ScheduledFuture<?> clock = DrainerThreads.keepClock();
  private ScheduledFuture<?> next;
  private boolean closed;

  /**
   * @param work one turn; throws nothing
   * @param untilNextMillis time to the next, asked for after each
   * @param complain told why there was no thread
   */
  DrainerTurns(
      Executor workers, Runnable work, LongSupplier untilNextMillis, Consumer<Throwable> complain) {
    this.workers = workers;
    this.work = work;
    this.untilNextMillis = untilNextMillis;
    this.complain = complain;
  }

  /** Has a turn taken after so long. */
  synchronized void next(long millis) {
    if (!closed) {
      next = DrainerThreads.schedule(this::begin, millis);
    }
  }

  private void begin() {
    try {
      workers.execute(this::turn);
    } catch (RejectedExecutionException | OutOfMemoryError e) { // no thread to be had
      complain.accept(e);
      next(NO_THREAD_MILLIS);
    }
  }

  private void turn() {
    work.run();
    next(untilNextMillis.getAsLong());
  }

  /** Has no more turns taken. */
  @Override
  public synchronized void close() {
    closed = true;
    clock.cancel(false);
    if (next != null) {
      next.cancel(false);
    }
  }
}
