package org.questdbsf.testserver;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.MalformedMessageException;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.QwpMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection's messages, in order: decoded, applied, acknowledged, or what the script wants.
 *
 * <p>The event loop only posts; the work is done on a thread of the pool, one at a time. After an
 * error reply all further messages are consumed without effect, until the client closes.
 */
final class Session {
  /** A healthy server acknowledges at the latest when so many messages are committed. */
  static final int MESSAGES_AN_ACK = 8;

  private static final int MAX_SYMBOLS = 1_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(Session.class);
  private static final int SERVER_FAULT = 1011;
  private static final long QUEUE_HIGH_BYTES = 16L << 20;
  private static final long QUEUE_LOW_BYTES = 4L << 20;

  private final Script script;
  private final PortCounters counters;
  private final Executor executor;
  private final SessionOutput output;
  private final boolean durableGranted;
  private final MessageDecoder decoder = new MessageDecoder(new ConnectionSymbols());
  private final MessageApplier applier;

  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final AtomicLong unackedRows = new AtomicLong();

  // What follows belongs to the thread that runs the inbox.
  private long nextSequence;
  private long committedSequence = -1;
  private Tally group = Tally.NONE;
  private Tally pending = Tally.NONE;
  // The latest number, not the highest: a table that was dropped and made anew counts anew.
  private Map<String, Long> pendingTables = new LinkedHashMap<>();
  private Map<String, Long> durableTables = new LinkedHashMap<>();
  private boolean failed;
  private boolean ended;
  private CutWatch close;
  private CutWatch drop;

  Session(
      Script script,
      PortCounters counters,
      Executor executor,
      SessionOutput output,
      ConnectionTables tables,
      boolean durableGranted) {
    this.script = script;
    this.counters = counters;
    this.executor = executor;
    this.output = output;
    this.durableGranted = durableGranted;
    this.applier = new MessageApplier(tables);
    this.close = new CutWatch(script.close(), 0);
    this.drop = new CutWatch(script.drop(), 0);
  }

  /** A binary frame came in. */
  void message(byte[] bytes) {
    if (queuedBytes.addAndGet(bytes.length) > QUEUE_HIGH_BYTES) {
      output.reading(false);
    }
    post(
        () -> {
          handle(bytes);
          if (queuedBytes.addAndGet(-bytes.length) < QUEUE_LOW_BYTES) {
            output.reading(true);
          }
        });
  }

  /** All that has arrived is handed over. */
  void endOfRead() {
    post(() -> acknowledge(false));
  }

  /** A PING came in: acknowledge first, then answer. */
  void ping(byte[] payload) {
    post(
        () -> {
          counters.pings.incrementAndGet();
          acknowledge(true);
          output.pong(payload);
        });
  }

  /** The connection is to end, because the client said so or broke the protocol. */
  void close(int code, String reason) {
    post(
        () -> {
          acknowledge(true);
          output.close(code, reason);
          ended = true;
        });
  }

  /** The connection is gone. */
  void gone() {
    post(
        () -> {
          ended = true;
          counters.abandoned(unackedRows.getAndSet(0));
          applier.close();
        });
  }

  /** The script changed, or the connection has just begun. */
  void scriptChanged() {
    post(
        () -> {
          acknowledge(script.ackEvery() == 0);
          cutIfDue();
        });
  }

  /** An acknowledgement is about to leave. Any thread. */
  void acked(Tally tally) {
    unackedRows.addAndGet(-tally.rows());
    counters.acked(tally);
  }

  private void post(Runnable event) {
    inbox.add(event);
    if (scheduled.compareAndSet(false, true)) {
      executor.execute(this::runInbox);
    }
  }

  private void runInbox() {
    do {
      for (Runnable event = inbox.poll(); event != null; event = inbox.poll()) {
        run(event);
      }
      scheduled.set(false);
    } while (!inbox.isEmpty() && scheduled.compareAndSet(false, true));
  }

  /** A fault of this server ends the connection, in words, and never leaves the client waiting. */
  private void run(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException | AssertionError e) {
      LOG.error("session ends: fault of the test server", e);
      ended = true;
      output.close(SERVER_FAULT, String.valueOf(e));
    }
  }

  private void handle(byte[] bytes) {
    if (failed || ended) {
      return;
    }
    long sequence = nextSequence++;
    try {
      QwpMessage message = decode(bytes);
      NackRule refusal = script.refusalOf(message);
      if (refusal != null) {
        throw new RefusedException(refusal.status(), refusal.message());
      }
      boolean closesGroup = group.messages() > 0;
      group = group.plus(Tally.of(message));
      applier.apply(message, pendingTables::put);
      if (!message.deferred()) {
        committed(sequence, closesGroup);
      }
      cutIfDue();
    } catch (RefusedException e) {
      refuse(sequence, e);
    }
  }

  private QwpMessage decode(byte[] bytes) throws RefusedException {
    try {
      QwpMessage message = decoder.decode(bytes, 0, bytes.length);
      int symbols = message.deltaStart() + message.delta().size();
      if (symbols > MAX_SYMBOLS) {
        throw new RefusedException(
            RefusedException.PARSE_ERROR, "delta symbol dictionary size exceeds limit: " + symbols);
      }
      return message;
    } catch (MalformedMessageException e) {
      int status =
          e.reason() == MalformedMessageException.Reason.DICTIONARY_GAP
              ? RefusedException.DICTIONARY_GAP
              : RefusedException.PARSE_ERROR;
      throw new RefusedException(status, e.getMessage());
    }
  }

  private void committed(long sequence, boolean closesGroup) {
    committedSequence = sequence;
    counters.received(group);
    unackedRows.addAndGet(group.rows());
    pending = pending.plus(group);
    group = Tally.NONE;
    if (closesGroup || pending.messages() >= MESSAGES_AN_ACK) {
      acknowledge(false);
    }
  }

  private void refuse(long sequence, RefusedException e) {
    acknowledge(true);
    failed = true;
    applier.close();
    counters.nacks.incrementAndGet();
    output.reply(Replies.error(e.status(), sequence, e.getMessage()), Tally.NONE);
  }

  /** Sends the OK for all that is committed, unless the script holds it or waits for more. */
  private void acknowledge(boolean now) {
    if (ended || failed || script.acksHeld()) {
      return;
    }
    if (pending.messages() > 0 && (now || pending.messages() >= script.ackEvery())) {
      output.reply(Replies.ok(committedSequence, pendingTables), pending);
      if (durableGranted) {
        pendingTables.forEach((table, txn) -> durableTables.merge(table, txn, Math::max));
      }
      pending = Tally.NONE;
      pendingTables = new LinkedHashMap<>();
    }
    if (!durableTables.isEmpty() && !script.durableAcksHeld()) {
      output.reply(Replies.durable(durableTables), Tally.NONE);
      durableTables = new LinkedHashMap<>();
    }
  }

  private void cutIfDue() {
    close = close.follow(script.close(), nextSequence);
    drop = drop.follow(script.drop(), nextSequence);
    if (ended) {
      return;
    }
    if (drop.isDue(nextSequence)) {
      ended = true;
      output.reset();
    } else if (close.isDue(nextSequence)) {
      ended = true;
      CutRule rule = close.cut.rule();
      output.close(rule.code(), rule.reason());
    }
  }

  /** A rule of the script and how many messages this connection had when it was set. */
  private record CutWatch(Script.Cut cut, long from) {
    private CutWatch follow(Script.Cut current, long messages) {
      return current == cut ? this : new CutWatch(current, messages);
    }

    private boolean isDue(long messages) {
      return cut != null && messages - from >= cut.rule().afterMessages() && cut.take();
    }
  }
}
