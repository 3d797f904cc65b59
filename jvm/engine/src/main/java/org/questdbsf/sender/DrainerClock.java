package org.questdbsf.sender;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one thread on which all {@link DrainerPool}s of a JVM look and wait; ends when idle. */
final class DrainerClock {
  private static final ScheduledThreadPoolExecutor THREAD = make();

  private DrainerClock() {}

  private static ScheduledThreadPoolExecutor make() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "questdb-sf-orphans");
              thread.setDaemon(true);
              return thread;
            });
    executor.setKeepAliveTime(1, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  static ScheduledFuture<?> schedule(Runnable task, long millis) {
    return THREAD.schedule(task, millis, TimeUnit.MILLISECONDS);
  }
}
