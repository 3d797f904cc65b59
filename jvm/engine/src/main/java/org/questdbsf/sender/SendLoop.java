package org.questdbsf.sender;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains a ring to QuestDB; one daemon thread per running sender or drainer.
 *
 * <pre>
 *   connecting ──connected, admitted──▶ catching up ──▶ sending ──stop──▶ draining ──▶ ended
 *       ▲                                   │              │
 *       └───────── lost, NACK, silence ─────┴──────────────┤
 *                                                          └──terminal──▶ failed
 * </pre>
 *
 * <ol>
 *   <li><b>connecting</b> ({@link ConnectionCycle}): hosts, back-off, pacing, gate, head frame.
 *   <li><b>catching up</b> ({@link CatchUp}): before the first frame of a connection, its symbols.
 *   <li><b>sending</b> ({@link FrameShipper}): from {@code ackedFsn + 1} on, whatever the ring
 *       holds.
 *   <li><b>draining</b>: a close frame; the acknowledgements that still come count; nothing is
 *       sent.
 *   <li><b>failed</b>: a {@link TerminalFailure} is latched; frames stay where they are.
 *   <li>Mailbox: <i>reply</i> (OK, durable ack: {@link AckTracker}; NACK: {@link NackHandler}),
 *       <i>closed</i> ({@link Strikes}), and mere wake-ups: published, writable, stop.
 *   <li>Mail of a connection that was given up is recognised by its number and ignored.
 *   <li>The watermark moves only by acknowledgements, by a drop, and past an aborted transaction.
 *   <li>Time: {@link SilenceWatch} bounds each wait; every other wait has an event that ends it.
 *   <li>Stop interrupts the thread only while it connects or asks the gate, never at file work.
 * </ol>
 */
final class SendLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SendLoop.class);
  private static final long JOIN_MILLIS = 30_000;

  private final LoopSetup setup;
  private final Mailbox mailbox = new Mailbox();
  private final LoopControl control = new LoopControl(mailbox);
  private final ConnectionCycle cycle;
  private final FrameShipper shipper;
  private final Thread thread;

  SendLoop(LoopSetup setup) {
    this(setup, new ReconnectPacer(ReconnectPacer.MOST_A_SECOND), new OutageClock());
  }

  SendLoop(LoopSetup setup, ReconnectPacer pacer, OutageClock outages) {
    this.setup = setup;
    SenderConfig config = setup.config();
    SplittableRandom random = new SplittableRandom();
    CapWatch caps =
        new CapWatch(config.endpoints().size(), config.catchUpCapGapMinEscalationWindowMillis());
    PoisonDetector poison =
        new PoisonDetector(
            config.maxFrameRejections(),
            config.poisonMinEscalationWindowMillis(),
            config.reconnectInitialBackoffMillis(),
            config.reconnectMaxBackoffMillis(),
            random);
    StallLog stalls = new StallLog(setup);
    this.cycle = new ConnectionCycle(setup, mailbox, control, pacer, outages, caps, stalls, random);
    this.shipper = new FrameShipper(setup, mailbox, control, pacer, caps, stalls, poison);
    this.thread = new Thread(this::run, "questdb-sf-send-" + setup.name());
    this.thread.setDaemon(true);
    setup.ring().onPublished(mailbox::wake);
    setup.gate().onNotice(text -> setup.inbox().offer(setup.notice(text)));
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!control.stopping()) {
        shipUntilLost();
      }
    } catch (TerminalFailure failure) {
      fail(failure);
    } catch (SfException failure) {
      fail(
          setup.failure(
              failure.code(), Category.LOCAL_FAILURE, failure.getMessage(), null, failure));
    } catch (RuntimeException | Error failure) {
      fail(
          setup.failure(
              ErrorCode.INTERNAL_FAULT,
              Category.LOCAL_FAILURE,
              "unexpected: " + failure,
              null,
              failure));
    } finally {
      setup.status().ended();
    }
  }

  private void shipUntilLost() throws TerminalFailure {
    try {
      Link link = cycle.connect();
      Loss loss = null;
      try {
        loss = shipper.serve(link);
      } finally {
        // Closed already when the loop stops; otherwise nothing more is read from it.
        link.connection().abort();
      }
      if (loss != null) {
        cycle.lost(loss);
      }
    } catch (InterruptedException e) {
      LOG.debug("sender '{}': interrupted{}", setup.name(), control.stopping() ? " to stop" : "");
    }
  }

  private void fail(TerminalFailure failure) {
    LOG.debug("sender '{}' stops", setup.name(), failure);
    // Latched first: a handler that asks must see what it is told of.
    setup.status().failed(failure);
    setup.ring().refuse(failure.toException(setup.name()));
    setup.inbox().offer(failure.error());
  }

  /** Asks the loop to stop; returns at once. Any thread. */
  void stop(LoopControl.Stop how) {
    control.stop(how);
  }

  /**
   * Waits until the thread has ended; only then may ring and slot be closed. An interrupt does not
   * end the wait and is kept.
   *
   * @return false when it did not end in time: ring and slot must be left alone
   */
  boolean join() {
    boolean interrupted = false;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MILLIS);
    while (thread.isAlive() && thread != Thread.currentThread()) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0) {
        break;
      }
      try {
        thread.join(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
