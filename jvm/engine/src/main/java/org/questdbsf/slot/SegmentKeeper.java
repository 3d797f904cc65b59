package org.questdbsf.slot;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Does what producers and senders must not wait for: makes hot spares, trims acknowledged segments,
 * writes watermarks, forces files, unmaps and deletes. One daemon thread ({@code
 * questdb-sf-keeper}) looks after all rings of a JVM; opening and closing of a slot, which may read
 * gigabytes or meet a disk that hangs, has a thread to itself while it lasts ({@code
 * questdb-sf-slots}), so that no slot waits for another. None of them is ever interrupted: an
 * interrupt would close the file under everybody.
 */
public final class SegmentKeeper implements AutoCloseable {
  private static final long SLOT_THREAD_IDLE_SECONDS = 60;

  /** One ring to look after. */
  @FunctionalInterface
  interface Task {
    /**
     * Does what is due.
     *
     * @return nanoseconds after which something else is due, {@link Long#MAX_VALUE} for nothing
     */
    long service(long nowNanos);
  }

  /** A registered task. */
  final class Ticket {
    private final Task task;
    private final AtomicBoolean wanted = new AtomicBoolean();
    private long dueNanos;
    private boolean waiting;
    private boolean removed;

    private Ticket(Task task) {
      this.task = task;
    }

    /** Has the task serviced soon. Cheap; any thread. */
    void wake() {
      if (!wanted.getAndSet(true)) {
        LockSupport.unpark(thread);
      }
    }

    /** On return the task is not being serviced and never will be again. */
    void remove() {
      tickets.remove(this);
      synchronized (this) {
        removed = true;
      }
    }

    private synchronized void serviceIfDue(long now) {
      boolean due = wanted.getAndSet(false) || (waiting && dueNanos - now <= 0);
      if (due && !removed) {
        long pause = task.service(now);
        waiting = pause != Long.MAX_VALUE;
        dueNanos = now + Math.max(0, pause);
      }
    }
  }

  private static final class Shared {
    static final SegmentKeeper INSTANCE = new SegmentKeeper();
  }

  private final List<Ticket> tickets = new CopyOnWriteArrayList<>();
  private final Thread thread;
  private final ThreadPoolExecutor slotThreads;
  private volatile boolean closed;

  /** A keeper of its own, for tests and tools; everything else uses {@link #shared}. */
  public SegmentKeeper() {
    slotThreads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE, // as many as there are callers that wait for one
            SLOT_THREAD_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            r -> daemon(r, "questdb-sf-slots"));
    thread = daemon(this::run, "questdb-sf-keeper");
    thread.start();
  }

  private static Thread daemon(Runnable r, String name) {
    Thread t = new Thread(r, name);
    t.setDaemon(true);
    return t;
  }

  /** The keeper that everything in this JVM shares; never closed. */
  public static SegmentKeeper shared() {
    return Shared.INSTANCE;
  }

  /** Registers a task; it is serviced only once woken. */
  Ticket add(Task task) {
    if (closed) {
      throw new IllegalStateException("the keeper is closed");
    }
    Ticket ticket = new Ticket(task);
    tickets.add(ticket);
    return ticket;
  }

  /** How many rings it looks after. */
  public int registered() {
    return tickets.size();
  }

  /** Runs disk work that may take long, off the calling thread. */
  <T> CompletableFuture<T> submit(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    slotThreads.execute(
        () -> {
          try {
            result.complete(work.call());
          } catch (Throwable t) { // whoever waits for the result gets it, whatever it is
            result.completeExceptionally(t);
          }
        });
    return result;
  }

  private void run() {
    while (!closed) {
      long now = System.nanoTime();
      for (Ticket t : tickets) {
        t.serviceIfDue(now);
      }
      long pause = Long.MAX_VALUE;
      for (Ticket t : tickets) {
        synchronized (t) {
          if (t.waiting) {
            pause = Math.min(pause, t.dueNanos - System.nanoTime());
          }
        }
      }
      if (pause == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else if (pause > 0) {
        LockSupport.parkNanos(this, pause);
      }
    }
  }

  /** Stops the threads. Only for a keeper that has no rings any more. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    slotThreads.shutdown();
  }
}
