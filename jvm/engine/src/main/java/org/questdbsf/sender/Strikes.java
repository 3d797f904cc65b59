package org.questdbsf.sender;

import java.time.Instant;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.CloseInfo;

/**
 * What refusals of the head frame lead to: by an error frame whose policy is to retry, or by a
 * WebSocket close code. Codes 1000, 1001 and 1006, a missing close frame and role changes say
 * nothing about a frame. Loop's thread only.
 */
final class Strikes {
  /** Terminal in the client spec (section on close codes); ordinary strikes for the sink. */
  private static final Set<Integer> TERMINAL = Set.of(1002, 1003, 1007, 1008, 1009, 1010);

  private static final int ABNORMAL = 1006;
  private static final int ROLE_CHANGE = 4001;

  private final LoopSetup setup;
  private final InFlight inFlight;
  private final Caution caution;
  private final PoisonDetector poison;
  private final TableActivity activity;
  private final FrameReader frames;

  Strikes(
      LoopSetup setup,
      InFlight inFlight,
      Caution caution,
      PoisonDetector poison,
      TableActivity activity) {
    this.setup = setup;
    this.inFlight = inFlight;
    this.caution = caution;
    this.poison = poison;
    this.activity = activity;
    this.frames = new FrameReader(setup.ring());
  }

  /** The head frame was refused and is to be sent again. */
  Loss refused(SenderError error) throws TerminalFailure {
    long now = System.nanoTime();
    poison.strike(setup.ring().ackedFsn() + 1, now);
    if (isPoison(error.table(), now)) {
      throw new TerminalFailure(
          ErrorCode.POISON_FRAME, error.asPoison(poisonText(now) + error.describe()), null);
    }
    setup.inbox().offer(error);
    setup.status().rejecting(error.describe(), error.endpoint());
    // Refused twice: perhaps another host takes it.
    Loss.Kind kind = poison.strikes() > 1 ? Loss.Kind.TRANSPORT : Loss.Kind.FRAME;
    return new Loss(kind, error.describe(), poison.pauseMillis());
  }

  /** The connection ended, with or without a close frame. */
  Loss closed(CloseInfo info, String host) throws TerminalFailure {
    String text = describe(info);
    boolean frameless = info.code() == CloseInfo.NONE || info.code() == ABNORMAL;
    if (frameless || info.orderly()) {
      return Loss.of(Loss.Kind.TRANSPORT, text);
    }
    if (info.code() == ROLE_CHANGE) {
      return Loss.of(Loss.Kind.HOST_REFUSES, text);
    }
    if (setup.defaults() == PolicyDefaults.ENGINE && TERMINAL.contains(info.code())) {
      throw setup.failure(
          ErrorCode.PROTOCOL_VIOLATION, Category.PROTOCOL_VIOLATION, text, host, info.cause());
    }
    long head = setup.ring().ackedFsn() + 1;
    if (!inFlight.sent(head)) {
      return Loss.of(Loss.Kind.TRANSPORT, text);
    }
    // Which of the frames on their way it was about, only sending them one by one can tell.
    caution.upTo(inFlight.nextFsn() - 1);
    FrameLook look = frames.look(head);
    SenderError error =
        new SenderError(
            Category.PROTOCOL_VIOLATION,
            Policy.RETRY,
            -1,
            -1,
            head,
            head,
            look.table(),
            look.rows(),
            text,
            host,
            Instant.now(),
            null);
    Loss loss = refused(error);
    return new Loss(Loss.Kind.TRANSPORT, loss.cause(), loss.pauseMillis());
  }

  /** Frames up to here were accepted or given up. */
  void settled(long fsn) {
    poison.settled(fsn);
  }

  private boolean isPoison(String table, long now) {
    if (!poison.isPoison(now)) {
      return false;
    }
    // Where nobody's rows reach the table, the table or the server is at fault, and may recover.
    return setup.defaults() == PolicyDefaults.ENGINE
        || activity.acceptedSince(table, poison.firstStrike());
  }

  private String poisonText(long now) {
    long millis = TimeUnit.NANOSECONDS.toMillis(now - poison.firstStrike());
    return "refused " + poison.strikes() + " times in " + millis + " ms; last: ";
  }

  private static String describe(CloseInfo info) {
    return info.code() == CloseInfo.NONE
        ? "connection lost: " + info.reason()
        : "ws-close[" + info.code() + "]: " + info.reason();
  }
}
