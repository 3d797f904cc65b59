package org.questdbsf.sender;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.questdbsf.net.CloseInfo;
import org.questdbsf.net.ConnectionEvents;
import org.questdbsf.net.ServerReply;

/**
 * What the send loop waits for: replies and ends of connections in the order of arrival, and mere
 * wake-ups (a frame was published, the socket takes more, stop). Any thread may put and wake; one
 * thread, the loop's, polls and waits.
 */
final class Mailbox {
  /** Something that happened on a connection. */
  sealed interface Event {
    /** Number of the connection, by which mail of one that was given up is told apart. */
    int connection();
  }

  record Reply(int connection, ServerReply reply, int bytes) implements Event {}

  record Closed(int connection, CloseInfo info) implements Event {}

  private final ConcurrentLinkedQueue<Event> events = new ConcurrentLinkedQueue<>();
  private volatile Thread waiter;

  /** What a connection reports, addressed to this box. */
  ConnectionEvents eventsOf(int connection) {
    return new ConnectionEvents() {
      @Override
      public void onReply(ServerReply reply, int bytes) {
        put(new Reply(connection, reply, bytes));
      }

      @Override
      public void onClosed(CloseInfo info) {
        put(new Closed(connection, info));
      }

      @Override
      public void onWritable() {
        wake();
      }
    };
  }

  private void put(Event event) {
    events.add(event);
    wake();
  }

  /** Wakes the loop if it waits. No lock, no allocation; a system call only when it waits. */
  void wake() {
    // Orders what the caller published before the look at who waits; the other half is in await.
    VarHandle.fullFence();
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }

  /** The oldest event, or null. */
  Event poll() {
    return events.poll();
  }

  /**
   * Waits until there is an event or something to do, at most {@code nanos}. May return early.
   *
   * @param somethingToDo looked at once more after the intention to wait is visible to wakers
   */
  void await(long nanos, BooleanSupplier somethingToDo) {
    awaitWake(nanos, () -> !events.isEmpty() || somethingToDo.getAsBoolean());
  }

  /** As {@link #await}, but events already here do not end the wait. */
  void awaitWake(long nanos, BooleanSupplier done) {
    waiter = Thread.currentThread();
    VarHandle.fullFence();
    if (!done.getAsBoolean()) {
      LockSupport.parkNanos(this, nanos);
      // A stray interrupt must not turn waiting into spinning.
      Thread.interrupted();
    }
    waiter = null;
  }
}
