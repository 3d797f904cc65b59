package org.questdbsf.sender;

import java.lang.invoke.VarHandle;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.SenderState.Kind;

/**
 * What the send loop lets others know: how it does, its terminal error, and that acknowledgements
 * went on. The loop writes and never waits; any thread reads or waits.
 */
final class SenderStatus {
  private final String name;
  private final Object progress = new Object();
  private volatile int waiters; // written under progress
  private volatile boolean connectedOnce;
  private volatile boolean ended;
  private volatile TerminalFailure failure;
  private volatile boolean failureSeen;
  private SenderState trouble; // in force until frames are acknowledged; the loop's own
  private volatile SenderState state = new SenderState(Kind.OK, Instant.now(), null, null, 0);

  SenderStatus(String name) {
    this.name = name;
  }

  /** Trying to connect, for {@code cause}; {@code since} is when the outage began. */
  void reconnecting(Instant since, String cause, String host, int attempts) {
    // The first attempt ever is no outage, however slow. Nor is the first one after a refusal: it
    // is part of sending the frame again.
    boolean tried = attempts > 0;
    if (tried || connectedOnce && trouble == null) {
      state = new SenderState(Kind.RECONNECTING, since, cause, host, attempts);
    }
  }

  /** A server refuses the head frame again and again. */
  void rejecting(String cause, String host) {
    trouble(Kind.REJECTING, Instant.now(), cause, host);
  }

  /** Connected, and nothing has been acknowledged for so long, though frames were sent. */
  void unanswered(long nanos, String host) {
    if (trouble == null) {
      Instant since = Instant.now().minusNanos(nanos);
      trouble(Kind.UNANSWERED, since, "no acknowledgement since " + since, host);
    }
  }

  private void trouble(Kind kind, Instant since, String cause, String host) {
    Instant first = trouble == null ? since : trouble.since();
    trouble = new SenderState(kind, first, cause, host, 0);
    state = trouble;
  }

  /** A server is connected. Trouble stays in force until frames are acknowledged. */
  void connected(String host) {
    state = trouble == null ? ok(host) : trouble;
    connectedOnce = true;
    announce();
  }

  /** Frames were acknowledged or given up. */
  void progressed() {
    if (trouble != null) {
      trouble = null;
      state = ok(state.host());
    }
    announce();
  }

  private SenderState ok(String host) {
    return new SenderState(Kind.OK, Instant.now(), state.cause(), host, 0);
  }

  /** The loop ends for good. */
  void failed(TerminalFailure why) {
    SenderState now = state;
    state =
        new SenderState(
            Kind.FAILED, why.error().at(), why.error().describe(), now.host(), now.attempts());
    failure = why;
    announce();
  }

  /** The loop's thread does nothing more. */
  void ended() {
    ended = true;
    announce();
  }

  private void announce() {
    // Orders what was published before the look at who waits; the other half is in await.
    VarHandle.fullFence();
    if (waiters > 0) {
      synchronized (progress) {
        progress.notifyAll();
      }
    }
  }

  /**
   * Waits until something holds, looked at after each step of the loop.
   *
   * @param nanos longest wait; below 0: no limit
   * @return whether it holds
   * @throws SfException the terminal error, or SENDER_CLOSED when the loop ended before it held
   */
  boolean await(BooleanSupplier holds, long nanos) throws InterruptedException {
    long end = System.nanoTime() + nanos;
    synchronized (progress) {
      waiters++;
      try {
        VarHandle.fullFence();
        while (!holds.getAsBoolean()) {
          checkError();
          if (ended) {
            throw closed();
          }
          long left = nanos < 0 ? Long.MAX_VALUE : end - System.nanoTime();
          if (left <= 0) {
            return false;
          }
          // Rounded up: a wait of 0 would be one without limit.
          progress.wait(nanos < 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(left) + 1);
        }
        return true;
      } finally {
        waiters--;
      }
    }
  }

  /** Waits until something holds, the loop has ended, or {@code millis} are over. */
  boolean awaitQuietly(BooleanSupplier holds, long millis) throws InterruptedException {
    boolean held =
        await(
            () -> holds.getAsBoolean() || failure != null || ended,
            TimeUnit.MILLISECONDS.toNanos(millis));
    return held && holds.getAsBoolean();
  }

  SfException closed() {
    return new SfException(
        ErrorCode.SENDER_CLOSED, "sender '" + name + "' is closed; open another one");
  }

  boolean connectedOnce() {
    return connectedOnce;
  }

  SenderState state() {
    return state;
  }

  Optional<SenderError> terminalError() {
    TerminalFailure now = failure;
    return now == null ? Optional.empty() : Optional.of(now.error());
  }

  /** Throws the terminal error, if there is one, and notes that somebody saw it. */
  void checkError() {
    TerminalFailure now = failure;
    if (now != null) {
      failureSeen = true;
      throw now.toException(name);
    }
  }

  /** The user's handler was told of an error. */
  void delivered(SenderError error) {
    TerminalFailure now = failure;
    if (now != null && now.error() == error) {
      failureSeen = true;
    }
  }

  /** Throws the terminal error if nobody was told of it. */
  void checkUnseenError() {
    if (!failureSeen) {
      checkError();
    }
  }
}
