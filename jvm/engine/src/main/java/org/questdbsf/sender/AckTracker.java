package org.questdbsf.sender;

import org.questdbsf.net.DurableAckLedger;
import org.questdbsf.net.ServerReply;
import org.questdbsf.slot.SegmentRing;

/**
 * Turns the server's acknowledgements into the watermark of the ring: cumulative, never beyond what
 * was sent, never into the middle of a deferred group, and in durable mode only what is durable.
 * Loop's thread only.
 */
final class AckTracker {
  private final LoopSetup setup;
  private final SegmentRing ring;
  private final InFlight inFlight;
  private final Runnable onProgress;
  private final DurableAckLedger ledger = new DurableAckLedger();
  private boolean durable;

  /**
   * @param onProgress run after the watermark has moved or an OK went further
   */
  AckTracker(LoopSetup setup, InFlight inFlight, Runnable onProgress) {
    this.setup = setup;
    this.ring = setup.ring();
    this.inFlight = inFlight;
    this.onProgress = onProgress;
  }

  /** A new connection. */
  void begin(boolean durable) {
    this.durable = durable;
    ledger.reset();
  }

  /** Whether durable confirmations are to come. */
  boolean confirmationsPending() {
    return ledger.waiting() > 0;
  }

  /** An OK; one before anything was sent says nothing. */
  void onOk(ServerReply.Ok ok) {
    long sequence = inFlight.clamp(ok.sequence());
    if (sequence < 0) {
      return;
    }
    inFlight.ok(setup.plan().boundary(inFlight.fsnOf(sequence)));
    if (durable) {
      acknowledgeSequence(ledger.onOk(sequence, ok.tables()));
    } else {
      acknowledgeSequence(sequence);
    }
    onProgress.run();
  }

  void onDurableAck(ServerReply.DurableAck ack) {
    if (durable) {
      acknowledgeSequence(ledger.onDurableAck(ack.tables()));
      onProgress.run();
    }
  }

  private void acknowledgeSequence(long sequence) {
    if (sequence >= 0) {
      long before = ring.ackedFsn();
      long now = System.nanoTime();
      long fsn = setup.plan().boundary(inFlight.fsnOf(sequence));
      if (fsn > before) {
        setup.counters().framesAcked.add(fsn - before);
        setup.times().acknowledged(before + 1, fsn, now, setup.counters());
        setup.counters().bytesSettled.add(inFlight.settle(fsn));
        ring.acknowledge(fsn);
      }
    }
  }

  /** Frames are given up: nothing below them is unacknowledged. */
  void giveUp(long lastFsn) {
    setup.counters().framesDropped.add(lastFsn - ring.ackedFsn());
    setup.counters().bytesSettled.add(inFlight.settle(lastFsn));
    ring.acknowledge(lastFsn);
    onProgress.run();
  }
}
