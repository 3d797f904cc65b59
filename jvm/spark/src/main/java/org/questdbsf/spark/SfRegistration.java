package org.questdbsf.spark;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One handler with its queue and its daemon thread. When the queue is full the oldest event goes:
 * counters only grow, and the newest says most. Thread-safe.
 */
public final class SfRegistration implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SfRegistration.class);
  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Is told what became of an event, besides this registration's own counts. */
  interface Outcome {
    Outcome NONE = (delivered, dropped) -> {};

    void add(int delivered, int dropped);
  }

  private record Waiting(SfEvent event, Outcome outcome) {}

  private final SfEventHandler handler;
  private final boolean errorsOnly;
  private final String application;
  private final int capacity;
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
  private boolean removed;
  private long delivered;
  private long failed;
  private long dropped;
  private String lastFailure;

  SfRegistration(SfEventHandler handler, boolean errorsOnly, String application, int capacity) {
    this.handler = handler;
    this.errorsOnly = errorsOnly;
    this.application = application;
    this.capacity = capacity;
  }

  void start() {
    Thread thread = new Thread(this::run, "questdb-sf-handler-" + NUMBERS.incrementAndGet());
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether it is of that Spark application; a JVM may run one after the other. */
  boolean isOf(String other) {
    return application.equals(other);
  }

  boolean wants(SfEvent event) {
    return !errorsOnly || event.kind() == SfEvent.Kind.ERROR;
  }

  /** Puts an event into the queue; never waits. */
  void offer(SfEvent event, Outcome outcome) {
    Waiting lost = null;
    synchronized (this) {
      if (removed) {
        return;
      }
      if (queue.size() >= capacity) {
        lost = queue.removeFirst();
        dropped++;
      }
      queue.addLast(new Waiting(event, outcome));
      notifyAll();
    }
    if (lost != null) {
      lost.outcome().add(0, 1);
    }
  }

  private void run() {
    for (Waiting next = next(); next != null; next = next()) {
      try {
        handler.onEvent(next.event());
        count(null);
        next.outcome().add(1, 0);
      } catch (Throwable thrown) {
        // Whatever a handler does, the next event must still be delivered.
        count(thrown);
      }
    }
  }

  private synchronized Waiting next() {
    while (queue.isEmpty() && !removed) {
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return null;
      }
    }
    return removed ? null : queue.removeFirst();
  }

  private synchronized void count(Throwable thrown) {
    if (thrown == null) {
      delivered++;
      return;
    }
    if (failed++ == 0) {
      LOG.warn("A handler of events threw; the next events go to it all the same.", thrown);
    }
    lastFailure = thrown.toString();
  }

  /** Events that the handler was called with and returned from. */
  public synchronized long delivered() {
    return delivered;
  }

  /** Events that the handler threw at, or could not be reached with. */
  public synchronized long failed() {
    return failed;
  }

  /** Events that the full queue lost. */
  public synchronized long dropped() {
    return dropped;
  }

  /** Events that wait in the queue. */
  public synchronized int waiting() {
    return queue.size();
  }

  /** What the handler threw last, or null. */
  public synchronized String lastFailure() {
    return lastFailure;
  }

  /** Ends it: no event is delivered any more. Does not wait for a call that is under way. */
  public void remove() {
    SfHandlers.forget(this);
    synchronized (this) {
      removed = true;
      queue.clear();
      notifyAll();
    }
  }

  @Override
  public void close() {
    remove();
  }
}
