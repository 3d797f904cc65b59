package org.questdbsf.sender;

import java.util.ArrayDeque;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Errors on their way to the handler: a bounded queue that drops the oldest, since watermarks only
 * grow and the newest says most (client spec, section on the error inbox). Without a handler of the
 * user each error is logged: silence would look like health.
 *
 * <p>Handlers run on threads that all inboxes of a JVM share and that exist only while there is
 * something to deliver; an inbox uses at most one at a time, so that a slow handler holds up no
 * other sender.
 */
final class ErrorInbox {
  private static final Logger LOG = LoggerFactory.getLogger(ErrorInbox.class);
  private static final long CLOSE_MILLIS = 100;
  private static final AtomicInteger THREADS = new AtomicInteger();
  private static final ThreadPoolExecutor DISPATCHERS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          1,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "questdb-sf-errors-" + THREADS.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });

  private final String sender;
  private final int capacity;
  private final SenderErrorHandler handler;
  private final Consumer<SenderError> delivered;
  private final SenderCounters counters;
  private final ArrayDeque<SenderError> waiting = new ArrayDeque<>();
  private Thread dispatcher;
  private boolean dispatching;

  /**
   * @param handler the user's, or null
   * @param delivered told of each error after the user's handler was
   */
  ErrorInbox(
      String sender,
      int capacity,
      SenderErrorHandler handler,
      Consumer<SenderError> delivered,
      SenderCounters counters) {
    this.sender = sender;
    this.capacity = capacity;
    this.handler = handler;
    this.delivered = delivered;
    this.counters = counters;
  }

  /** Whether it logs what it is given, having no handler of the user. */
  boolean logs() {
    return handler == null;
  }

  /** Puts an error in; any thread, never blocks. */
  void offer(SenderError error) {
    synchronized (waiting) {
      if (waiting.size() == capacity) {
        waiting.removeFirst();
        counters.errorNotificationsDropped.increment();
      }
      waiting.addLast(error);
      if (dispatching) {
        return;
      }
      dispatching = true;
    }
    DISPATCHERS.execute(this::dispatch);
  }

  private void dispatch() {
    synchronized (waiting) {
      dispatcher = Thread.currentThread();
    }
    for (SenderError error = next(); error != null; error = next()) {
      deliver(error);
    }
  }

  private SenderError next() {
    synchronized (waiting) {
      SenderError error = waiting.pollFirst();
      if (error == null) {
        dispatching = false;
        dispatcher = null;
        waiting.notifyAll();
      }
      return error;
    }
  }

  private void deliver(SenderError error) {
    if (handler == null) {
      log(error);
      counters.errorNotificationsDelivered.increment();
      return;
    }
    try {
      handler.onError(error);
    } catch (Throwable thrown) {
      // Whatever a handler does, the next error must still be delivered.
      LOG.error("sender '{}': the error handler threw; error {}", sender, error.describe(), thrown);
    }
    counters.errorNotificationsDelivered.increment();
    delivered.accept(error);
  }

  private void log(SenderError error) {
    if (error.policy() == Policy.HALT) {
      LOG.error("sender '{}': {}", sender, error.describe());
    } else {
      LOG.warn("sender '{}': {}", sender, error.describe());
    }
  }

  /**
   * Gives the handler a moment to finish. Called from the handler itself it returns at once. An
   * interrupt ends the wait and is kept.
   */
  void close() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
    synchronized (waiting) {
      while (dispatching && dispatcher != Thread.currentThread()) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          LOG.warn("sender '{}': closed while its error handler is still busy", sender);
          return;
        }
        try {
          waiting.wait(left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
