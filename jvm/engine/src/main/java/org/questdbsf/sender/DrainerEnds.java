package org.questdbsf.sender;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The slots that a {@link DrainerPool} is giving back, each on a thread of its own, since its
 * server, or the disk, may take its time. Thread-safe.
 */
final class DrainerEnds {
  private final Executor workers;
  private final Set<String> slots = new HashSet<>();

  DrainerEnds(Executor workers) {
    this.workers = workers;
  }

  synchronized void add(String slot) {
    slots.add(slot);
  }

  synchronized boolean contains(String slot) {
    return slots.contains(slot);
  }

  synchronized boolean isEmpty() {
    return slots.isEmpty();
  }

  synchronized void remove(String slot) {
    slots.remove(slot);
    notifyAll();
  }

  /** Gives a slot back; where no thread is to be had, on this one. */
  void run(Runnable task) {
    try {
      workers.execute(task);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      task.run();
    }
  }

  /**
   * Waits until all are given back; an interrupt does not end the wait and is kept.
   *
   * @return whether they are
   */
  synchronized boolean await(long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    boolean interrupted = false;
    long left = millis;
    while (!slots.isEmpty() && left > 0) {
      try {
        wait(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return slots.isEmpty();
  }
}
