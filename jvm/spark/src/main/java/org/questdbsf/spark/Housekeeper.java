package org.questdbsf.spark;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of the connector in an executor JVM: opens slots, which no task thread may do, and
 * closes lanes that were idle for long.
 */
final class Housekeeper {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);
  private static final ScheduledThreadPoolExecutor THREAD =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "questdb-sf-lanes");
            thread.setDaemon(true);
            return thread;
          });

  private Housekeeper() {}

  /** Runs something now and then for the life of the JVM; failures are logged. */
  static void every(long millis, Runnable work) {
    THREAD.scheduleWithFixedDelay(() -> guarded(work), millis, millis, TimeUnit.MILLISECONDS);
  }

  /** Runs something once, soon; a failure is logged. */
  static void soon(Runnable work) {
    THREAD.execute(() -> guarded(work));
  }

  /** Runs something once and hands back what it gives or throws. */
  static <T> CompletableFuture<T> call(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    THREAD.execute(
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
