package org.questdbsf.sender;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.questdbsf.net.DurableAckLedger;
import org.questdbsf.net.ServerReply;
import org.questdbsf.net.TableTxn;
import org.questdbsf.slot.SegmentRing;

/**
 * Turns the server's acknowledgements into the watermark of the ring: cumulative, only what an OK
 * proves ({@link OkAudit}), never beyond what was sent, never into the middle of a deferred group,
 * and in durable mode only what is durable. Loop's thread only.
 */
final class AckTracker {
  /** While frames are on their way, open OKs wait so long for the next look at the tables. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final LoopSetup setup;
  private final SegmentRing ring;
  private final InFlight inFlight;
  private final OkAudit audit;
  private final AckRejections rejections;
  private final TableActivity activity;
  private final Runnable onProgress;
  private final DurableAckLedger ledger = new DurableAckLedger();

  /** OKs that wait for a look at the identity of their tables. */
  private final ArrayDeque<ServerReply.Ok> open = new ArrayDeque<>();

  private long openSince;
  private long newestOpen;
  private long lookAt;
  private boolean lookFailed;
  private boolean durable;
  private Link link;

  /**
   * @param onProgress run after the watermark has moved or an OK went further
   */
  AckTracker(
      LoopSetup setup,
      InFlight inFlight,
      OkAudit audit,
      AckRejections rejections,
      TableActivity activity,
      Runnable onProgress) {
    this.setup = setup;
    this.ring = setup.ring();
    this.inFlight = inFlight;
    this.audit = audit;
    this.rejections = rejections;
    this.activity = activity;
    this.onProgress = onProgress;
  }

  /** A new connection. */
  void begin(Link next) {
    link = next;
    durable = next.connection().durableAck();
    ledger.reset();
    open.clear();
    audit.begin(System.nanoTime());
  }

  /** Whether durable confirmations are to come. */
  boolean confirmationsPending() {
    return ledger.waiting() > 0;
  }

  /**
   * An OK.
   *
   * @return how the connection is given up when the OK does not prove what it acknowledges, or null
   */
  Loss onOk(ServerReply.Ok ok) throws TerminalFailure {
    long now = System.nanoTime();
    List<TableTxn> tables = audit.known(ok.tables());
    activity.accepted(tables, now);
    ServerReply.Ok ours = new ServerReply.Ok(ok.sequence(), tables);
    OkAudit.Verdict verdict = audit.judge(ok.sequence(), tables, now);
    if (verdict == OkAudit.Verdict.UNPROVEN) {
      verdict = rejections.secondOpinion(ok, link);
    }
    switch (verdict) {
      case UNPROVEN -> {
        return rejections.reject(ours, audit.whichTable(), audit.why(), link);
      }
      case OPEN -> {
        if (setup.gate().identifiesTables(link.connection().endpoint())) {
          hold(ours, now);
        } else {
          settle(ours);
        }
      }
      case PROVEN -> {
        if (open.isEmpty()) {
          settle(ours);
        } else if (ours.sequence() > open.getLast().sequence()) {
          open.add(ours);
          newestOpen = now;
        }
      }
    }
    return null;
  }

  private void hold(ServerReply.Ok ok, long now) {
    if (open.isEmpty()) {
      openSince = now;
      lookAt = now + LOOK_NANOS;
      lookFailed = false;
    }
    open.add(ok);
    newestOpen = now;
  }

  private void settle(ServerReply.Ok ok) {
    inFlight.ok(setup.plan().boundary(inFlight.fsnOf(ok.sequence())));
    if (durable) {
      acknowledgeSequence(ledger.onOk(ok.sequence(), ok.tables()));
    } else {
      acknowledgeSequence(ok.sequence());
    }
    onProgress.run();
  }

  /** Whether OKs wait for a look at their tables. */
  boolean awaitsLook() {
    return !open.isEmpty();
  }

  /** Whether to look now: nobody waits behind them, or they have waited long enough. */
  boolean isLookDue(long now) {
    return !open.isEmpty()
        && (now - lookAt >= 0 || !lookFailed && inFlight.isLastSent(open.getLast().sequence()));
  }

  /** Nanoseconds until {@link #isLookDue} may change by itself. */
  long untilLook(long now) {
    return open.isEmpty() ? Long.MAX_VALUE : Math.max(1, lookAt - now);
  }

  /**
   * A look that began at {@code since} or later found the tables to be the ones they were: what was
   * acknowledged before it is in them. A look that is older than an open OK says nothing of it.
   */
  void sameTables(long since) {
    audit.same(since);
    while (!open.isEmpty() && since - newestOpen >= 0) {
      settle(open.removeFirst());
    }
  }

  /**
   * A look told nothing: the server's SQL is busy.
   *
   * @return how the connection is given up after too long, or null
   */
  Loss unknownTables(long now) {
    lookAt = now + LOOK_NANOS;
    lookFailed = true;
    long longest = setup.config().ackTimeoutMillis();
    if (!open.isEmpty() && now - openSince >= TimeUnit.MILLISECONDS.toNanos(longest)) {
      return Loss.of(
          Loss.Kind.TRANSPORT,
          "whether acknowledged rows went to the right tables could not be looked up through SQL"
              + " for "
              + longest
              + " ms (ack_timeout_millis)");
    }
    return null;
  }

  void onDurableAck(ServerReply.DurableAck ack) {
    if (durable) {
      acknowledgeSequence(ledger.onDurableAck(audit.known(ack.tables())));
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
