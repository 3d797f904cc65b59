package org.questdbsf.sender;

/**
 * How the loop's thread is told to stop. It is interrupted only inside a region where that is
 * harmless (connecting, asking the gate), never while it writes a file.
 */
final class LoopControl {
  /** What stopping means for what was sent and not acknowledged. */
  enum Stop {
    /** Close politely and count the acknowledgements that still come. */
    CLOSE,
    /** Close quickly: nothing may go out later. */
    DISCARD
  }

  /** Work that an interrupt may end. */
  @FunctionalInterface
  interface Interruptible<T, X extends Exception> {
    T run() throws X, InterruptedException;
  }

  private final Mailbox mailbox;
  private volatile Stop stop;
  private Thread interruptible;

  LoopControl(Mailbox mailbox) {
    this.mailbox = mailbox;
  }

  /** Asks the loop to stop; any thread. A discard overrides a close. */
  void stop(Stop how) {
    synchronized (this) {
      if (stop != Stop.DISCARD) {
        stop = how;
      }
      if (interruptible != null) {
        interruptible.interrupt();
      }
    }
    mailbox.wake();
  }

  boolean stopping() {
    return stop != null;
  }

  /** How to stop, or null. */
  Stop how() {
    return stop;
  }

  /**
   * Runs something that {@link #stop} may interrupt. Loop's thread only.
   *
   * @throws InterruptedException when stopping
   */
  <T, X extends Exception> T interruptibly(Interruptible<T, X> work)
      throws X, InterruptedException {
    synchronized (this) {
      if (stop != null) {
        throw new InterruptedException("stopping");
      }
      interruptible = Thread.currentThread();
    }
    try {
      return work.run();
    } finally {
      synchronized (this) {
        interruptible = null;
        // An interrupt that came too late for the work must not hit what follows.
        Thread.interrupted();
      }
    }
  }

  /**
   * Waits {@code nanos}.
   *
   * @throws InterruptedException when stopping
   */
  void pause(long nanos) throws InterruptedException {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0 && !stopping(); left = end - System.nanoTime()) {
      mailbox.awaitWake(left, this::stopping);
    }
    if (stopping()) {
      throw new InterruptedException("stopping");
    }
  }
}
