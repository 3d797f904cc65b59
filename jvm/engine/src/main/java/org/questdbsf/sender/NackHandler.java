package org.questdbsf.sender;

import java.io.IOException;
import java.time.Instant;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.ServerReply;
import org.questdbsf.slot.SegmentRing;

/**
 * Decides what an error frame means. It says nothing about earlier frames, so that it takes effect
 * only for the head of the line: anything else is sent again, one frame at a time, until it is the
 * head or goes through. Loop's thread only.
 */
final class NackHandler {
  private final LoopSetup setup;
  private final SegmentRing ring;
  private final InFlight inFlight;
  private final Caution caution;
  private final Strikes strikes;
  private final AckTracker acks;
  private final ErrorPolicy policies;
  private final FrameReader frames;

  NackHandler(
      LoopSetup setup, InFlight inFlight, Caution caution, Strikes strikes, AckTracker acks) {
    this.setup = setup;
    this.ring = setup.ring();
    this.inFlight = inFlight;
    this.caution = caution;
    this.strikes = strikes;
    this.acks = acks;
    this.frames = new FrameReader(ring);
    this.policies = ErrorPolicy.of(setup.config(), setup.defaults());
  }

  /**
   * @return how the connection is given up: nothing more is read from it
   * @throws TerminalFailure when the policy, or the poison detector, says so
   */
  Loss onNack(ServerReply.Nack nack, String host) throws TerminalFailure {
    setup.counters().serverErrors.increment();
    long head = ring.ackedFsn() + 1;
    if (!inFlight.wasSent(nack.sequence())) {
      return Loss.of(
          Loss.Kind.TRANSPORT,
          "the server refused message " + nack.sequence() + ", which was never sent");
    }
    boolean ofDictionary = inFlight.isDictionary(nack.sequence());
    // A refused dictionary message stops the oldest frame, which needs its symbols.
    long fsn = ofDictionary ? head : inFlight.fsnOf(nack.sequence());
    if (fsn < head) {
      return Loss.of(
          Loss.Kind.TRANSPORT, "the server refused frame " + fsn + ", which it had acknowledged");
    }
    ReplayPlan.Unit unit = setup.plan().unitOf(fsn);
    Category category = Category.ofStatus(nack.status());
    Policy policy = policies.of(category);
    if (ofDictionary && policy == Policy.DROP) {
      // Dropping the frame would not help: the next one needs the same symbols.
      policy = Policy.RETRY;
    }
    FrameLook look = frames.look(fsn);
    SenderError error =
        new SenderError(
            category,
            policy,
            nack.status(),
            nack.sequence(),
            unit.first(),
            unit.last(),
            look.table(),
            look.rows(),
            nack.message(),
            host,
            Instant.now(),
            null);
    boolean isHead = unit.first() <= head;
    switch (policy) {
      case HALT -> throw new TerminalFailure(ErrorCode.SERVER_REJECTED, error, null);
      case RETRY_OTHER -> {
        setup.inbox().offer(error);
        setup.status().rejecting(error.describe(), host);
        return Loss.of(Loss.Kind.HOST_REFUSES, error.describe());
      }
      default -> {
        caution.upTo(unit.last());
        if (!isHead) {
          return Loss.of(Loss.Kind.FRAME, error.describe());
        }
        return policy == Policy.DROP ? drop(unit, error) : strikes.refused(error);
      }
    }
  }

  private Loss drop(ReplayPlan.Unit unit, SenderError error) throws TerminalFailure {
    long rows = 0;
    String keptIn = null;
    for (long fsn = ring.ackedFsn() + 1; fsn <= unit.last(); fsn++) {
      rows += frames.look(fsn).rows();
      if (setup.deadLetters() != null) {
        try {
          byte[] copy = frames.copy(fsn);
          keptIn = setup.deadLetters().store(setup.name(), fsn, copy, error);
        } catch (IOException | RuntimeException e) { // file systems of others throw both
          String why = error.message() + "; not dropped, because it cannot be kept: " + e;
          return strikes.refused(error.withMessage(why));
        }
      }
    }
    setup.counters().rowsDropped.add(rows);
    acks.giveUp(unit.last());
    setup.inbox().offer(error.withDeadLetter(keptIn));
    return Loss.of(Loss.Kind.FRAME, error.describe());
  }
}
