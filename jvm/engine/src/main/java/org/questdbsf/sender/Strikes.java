package org.questdbsf.sender;

import java.time.Instant;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.CloseInfo;
import org.questdbsf.sender.Refusal.Hope;

/**
 * What refusals of the head frame lead to: by an error frame whose policy is to retry, or by a
 * WebSocket close code. Codes 1000, 1001 and 1006, a missing close frame and role changes say
 * nothing about a frame; they are told when they go on and on. Whatever may pass is waited for as
 * long as an outage is, {@code reconnect_max_duration_millis}. Loop's thread only.
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
  private final UnansweredEnds unanswered = new UnansweredEnds();

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
  Loss refused(SenderError error, Hope hope) throws TerminalFailure {
    long now = System.nanoTime();
    boolean byHost = error.policy() == Policy.RETRY_OTHER;
    boolean strike = hope == Hope.NONE || (hope != Hope.PASSING && !byHost);
    poison.refused(setup.ring().ackedFsn() + 1, strike, now);
    if (strike && isPoison(error.table(), hope, now)) {
      String text = refusedSince(poison.firstStrike(), now) + "; last: " + error.describe();
      throw new TerminalFailure(
          ErrorCode.POISON_FRAME, error.asEnd(Category.PROTOCOL_VIOLATION, text), null);
    }
    if (isOverBudget(poison.firstRefusal(), now)) {
      String text = refusedSince(poison.firstRefusal(), now);
      text += " (reconnect_max_duration_millis); last: " + error.message();
      throw new TerminalFailure(
          ErrorCode.OUTAGE_BUDGET_EXHAUSTED, error.asEnd(error.category(), text), null);
    }
    setup.inbox().offer(error);
    setup.status().rejecting(error.describe(), error.endpoint());
    if (byHost) {
      return Loss.of(Loss.Kind.HOST_REFUSES, error.describe());
    }
    // Refused twice: perhaps another host takes it.
    Loss.Kind kind = poison.refusals() > 1 ? Loss.Kind.TRANSPORT : Loss.Kind.FRAME;
    return new Loss(kind, error.describe(), poison.pauseMillis());
  }

  /** The connection ended, with or without a close frame. */
  Loss closed(CloseInfo info, String host) throws TerminalFailure {
    String text = describe(info);
    boolean frameless = info.code() == CloseInfo.NONE || info.code() == ABNORMAL;
    if (frameless || info.orderly()) {
      return unanswered(text, host);
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
    Loss loss = refused(ofHead(head, text, host), Hope.UNCLEAR);
    return new Loss(Loss.Kind.TRANSPORT, loss.cause(), loss.pauseMillis());
  }

  /** Nothing was acknowledged for too long, whatever else the server said. */
  Loss unacknowledged(String host, boolean durable) throws TerminalFailure {
    long millis = setup.config().ackTimeoutMillis();
    String text =
        durable
            ? "nothing became durable for "
                + SilenceWatch.DURABLE_FACTOR * millis
                + " ms (ten times ack_timeout_millis) at "
                + host
            : "no acknowledgement for " + millis + " ms (ack_timeout_millis) from " + host;
    count(setup.ring().ackedFsn() + 1, text, host);
    return Loss.of(Loss.Kind.TRANSPORT, text);
  }

  private Loss unanswered(String text, String host) throws TerminalFailure {
    long head = setup.ring().ackedFsn() + 1;
    if (inFlight.sent(head) && inFlight.okFsn() < head) {
      count(head, text, host);
    }
    return Loss.of(Loss.Kind.TRANSPORT, text);
  }

  private void count(long head, String text, String host) throws TerminalFailure {
    long now = System.nanoTime();
    int ends = unanswered.ended(head, now);
    String told =
        ends
            + " connections in a row ended after this frame was sent, and it was not acknowledged;"
            + " it is kept and sent again. Look at the server's log, and at proxies on the way;"
            + " last: "
            + text;
    if (isOverBudget(unanswered.firstEnd(), now)) {
      throw setup.failure(
          ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
          Category.OUTAGE,
          told + " (reconnect_max_duration_millis)",
          host,
          null);
    }
    if (ends >= UnansweredEnds.FIRST_TOLD) {
      SenderError error = ofHead(head, told, host);
      setup.status().rejecting(error.describe(), host);
      if (unanswered.toBeTold()) {
        setup.inbox().offer(error);
      }
    }
  }

  private SenderError ofHead(long head, String text, String host) {
    FrameLook look = frames.look(head);
    return new SenderError(
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
  }

  /** Frames up to here were accepted or given up. */
  void settled(long fsn) {
    poison.settled(fsn);
  }

  private boolean isPoison(String table, Hope hope, long now) {
    if (!poison.isPoison(now)) {
      return false;
    }
    // Where nobody's rows reach the table, the table or the server is at fault, and may recover.
    return hope != Hope.UNCLEAR
        || setup.defaults() == PolicyDefaults.ENGINE
        || activity.acceptedSince(table, poison.firstStrike());
  }

  private boolean isOverBudget(long since, long now) {
    long budget = setup.config().reconnectMaxDurationMillis();
    return budget > 0 && now - since >= TimeUnit.MILLISECONDS.toNanos(budget);
  }

  private String refusedSince(long since, long now) {
    long millis = TimeUnit.NANOSECONDS.toMillis(now - since);
    return "refused " + poison.refusals() + " times in " + millis + " ms";
  }

  private static String describe(CloseInfo info) {
    return info.code() == CloseInfo.NONE
        ? "connection lost: " + info.reason()
        : "ws-close[" + info.code() + "]: " + info.reason();
  }
}
