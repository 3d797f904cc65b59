package org.questdbsf.sender;

import java.io.IOException;
import java.time.Instant;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.ServerReply;
import org.questdbsf.sender.Refusal.Hope;
import org.questdbsf.slot.SegmentRing;

/**
 * Decides what is done about an error frame. It says nothing about earlier frames, so that it takes
 * effect only for the head of the line: anything else is sent again, one frame at a time, until it
 * is the head or goes through. Loop's thread only.
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
    this.policies = new ErrorPolicy(setup.config(), setup.defaults(), setup.deadLetters() != null);
  }

  /**
   * @return how the connection is given up: nothing more is read from it
   * @throws TerminalFailure when the policy, or the poison detector, says so
   */
  Loss onNack(ServerReply.Nack nack, String host) throws TerminalFailure {
    setup.counters().serverErrors.increment();
    long head = ring.ackedFsn() + 1;
    boolean ofDictionary = inFlight.isDictionary(nack.sequence());
    // A refused dictionary message stops the oldest frame, which needs its symbols.
    long fsn = ofDictionary ? head : inFlight.fsnOf(nack.sequence());
    if (fsn < head) {
      return Loss.of(
          Loss.Kind.TRANSPORT, "the server refused frame " + fsn + ", which it had acknowledged");
    }
    ReplayPlan.Unit unit = setup.plan().unitOf(fsn);
    Category category = Category.ofStatus(nack.status());
    Refusal refusal = Refusal.of(category, nack.words());
    Policy policy = policies.of(category, refusal.hope());
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
            refusal.explain(nack.message()),
            host,
            Instant.now(),
            null);
    if (policy == Policy.HALT) {
      throw new TerminalFailure(ErrorCode.SERVER_REJECTED, error, null);
    }
    if (policy == Policy.RETRY_OTHER && refusal.hope() != Hope.NONE) {
      return strikes.refused(error, refusal.hope());
    }
    caution.upTo(unit.last());
    if (unit.first() > head) {
      return Loss.of(Loss.Kind.FRAME, error.describe());
    }
    return policy == Policy.DROP ? drop(unit, error) : strikes.refused(error, refusal.hope());
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
          return strikes.refused(error.withMessage(why), Hope.PASSING);
        }
      }
    }
    setup.counters().rowsDropped.add(rows);
    acks.giveUp(unit.last());
    setup.inbox().offer(error.withDeadLetter(keptIn));
    return Loss.of(Loss.Kind.FRAME, error.describe());
  }
}
