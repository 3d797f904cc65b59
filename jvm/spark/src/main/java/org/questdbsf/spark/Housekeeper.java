package org.questdbsf.spark;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of the connector in an executor JVM. One does what is due now and then, and waits for
 * nothing. Opening a slot, which no task thread may do, and closing a lane may wait, for a disk or
 * for a server, and have a thread each while they last, so that no lane waits for another.
 */
final class Housekeeper {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);
  private static final long AGAIN_MILLIS = 500;
  private static final ScheduledThreadPoolExecutor CLOCK =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "questdb-sf-lanes-clock"));
  private static final ThreadPoolExecutor WORKERS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE, // as many as there are lanes being opened or closed
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> daemon(task, "questdb-sf-lanes"));

  private Housekeeper() {}

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs quick work now and then for the life of the JVM; failures are logged. */
  static void every(long millis, Runnable work) {
    CLOCK.scheduleWithFixedDelay(() -> guarded(work), millis, millis, TimeUnit.MILLISECONDS);
  }

  /** Runs quick work once, soon; a failure is logged. */
  static void soon(Runnable work) {
    CLOCK.execute(() -> guarded(work));
  }

  /** Runs work that may wait, now or as soon as a thread is to be had; a failure is logged. */
  static void apart(Runnable work) {
    apart(WORKERS, work);
  }

  static void apart(Executor workers, Runnable work) {
    try {
      workers.execute(() -> guarded(work));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      LOG.warn("No thread is to be had for the lanes; asked for again in {} ms", AGAIN_MILLIS, e);
      CLOCK.schedule(() -> apart(workers, work), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Runs work that may wait, and hands back what it gives or throws. */
  static <T> CompletableFuture<T> call(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    WORKERS.execute(
        () -> {
          try {
            result.complete(work.call());
          } catch (Throwable e) { // whoever waits must hear of it, whatever it is
            result.completeExceptionally(new CompletionException(e));
          }
        });
    return result;
  }

  private static void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) { // thrown on, it would end all housekeeping
      LOG.error("Housekeeping of lanes failed; it is tried again.", e);
    }
  }
}
