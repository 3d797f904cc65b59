package org.questdbsf.sender;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of all {@link DrainerPool}s of a JVM: one keeps the time and never waits for
 * anything; what may wait, for a disk or for a server, has a thread to itself. All end when idle.
 */
final class DrainerThreads {
  private static final long FOR_GOOD_DAYS = 36_500;
  private static final ScheduledThreadPoolExecutor CLOCK = clock();
  private static final ThreadPoolExecutor WORKERS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE, // as many as there are pools and slots being opened or given back
          1,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> daemon(task, "questdb-sf-orphans"));

  private DrainerThreads() {}

  private static ScheduledThreadPoolExecutor clock() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(1, task -> daemon(task, "questdb-sf-orphans-clock"));
    executor.setKeepAliveTime(1, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs a quick task later, on the clock's thread. */
  static ScheduledFuture<?> schedule(Runnable task, long millis) {
    return CLOCK.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  /** Keeps the clock's thread until this is cancelled: another may not be to be had. */
  static ScheduledFuture<?> keepClock() {
    return CLOCK.schedule(() -> {}, FOR_GOOD_DAYS, TimeUnit.DAYS);
  }

  /** Runs a task now, on a thread of its own. */
  static void run(Runnable task) {
    WORKERS.execute(task);
  }
}
