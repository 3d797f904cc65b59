package org.questdbsf.sender;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.TimeUnit;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.QwpConnection;
import org.questdbsf.net.ServerReply;
import org.questdbsf.slot.SegmentRing;

/**
 * Ships frames on one connection after another, from the first unacknowledged one on, and reads the
 * replies. One for the life of a loop; loop's thread only.
 */
final class FrameShipper {
  private static final int FRAMES_BETWEEN_MAIL = 16;

  /** Then other things have their turn: a server may send replies faster than they are read. */
  private static final int MOST_MAIL = 256;

  private static final long CLOSE_MILLIS = 1000;

  /** Servers acknowledge what one read brought at once; one that does not is not waited for. */
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

  private static final long DISCARD_MILLIS = 250;

  /** After so long without an acknowledgement it is no longer called well. */
  private static final long UNWELL = TimeUnit.SECONDS.toNanos(5);

  private final LoopSetup setup;
  private final SegmentRing ring;
  private final Mailbox mailbox;
  private final LoopControl control;
  private final Caution caution;
  private final InFlight inFlight;
  private final Strikes strikes;
  private final OkAudit audit = new OkAudit();
  private final AckTracker acks;
  private final NackHandler nacks;
  private final CatchUp catchUp;
  private final ReconnectPacer pacer;
  private final CapWatch caps;
  private final StallLog stalls;
  private final SymbolEpochs symbols;

  private SilenceWatch silence;
  private Link link;
  private long gateVersion;
  private long highestSent = -1;
  private boolean patient;
  private long waitFor; // message whose OK the next frame waits for
  private long waitUntil;
  private long ackedBefore;
  private long okBefore;

  FrameShipper(
      LoopSetup setup,
      Mailbox mailbox,
      LoopControl control,
      ReconnectPacer pacer,
      CapWatch caps,
      StallLog stalls,
      PoisonDetector poison) {
    this.setup = setup;
    this.ring = setup.ring();
    this.mailbox = mailbox;
    this.control = control;
    this.pacer = pacer;
    this.caps = caps;
    this.stalls = stalls;
    TableActivity activity = TableActivity.of(setup.config().endpoints());
    this.inFlight = new InFlight();
    this.caution = new Caution(setup.plan());
    this.strikes = new Strikes(setup, inFlight, caution, poison, activity);
    AckRejections rejections = new AckRejections(setup, inFlight, strikes, activity);
    this.acks = new AckTracker(setup, inFlight, audit, rejections, activity, this::progressed);
    this.nacks = new NackHandler(setup, inFlight, caution, strikes, acks);
    this.symbols = setup.symbols();
    this.catchUp = symbols.inEachFrame() ? null : new CatchUp(this::sentDictionary);
    this.ackedBefore = ring.ackedFsn();
  }

  /**
   * Ships on a connection until it is given up.
   *
   * @return why it was, or null when the loop is to stop; the connection is closed then
   * @throws TerminalFailure when the loop cannot go on; the caller closes the connection
   */
  Loss serve(Link next) throws TerminalFailure, InterruptedException {
    link = next;
    gateVersion = next.gateVersion();
    QwpConnection connection = link.connection();
    inFlight.begin(ring.ackedFsn() + 1);
    symbols.enter(ring.ackedFsn() + 1);
    acks.begin(next);
    patient = true;
    waitFor = -1;
    okBefore = inFlight.okFsn();
    long keepalive = setup.config().durableAckKeepaliveIntervalMillis();
    silence = new SilenceWatch(setup.config().ackTimeoutMillis(), keepalive, System.nanoTime());
    while (true) {
      Loss loss = readMail();
      if (loss != null) {
        return loss;
      }
      if (control.stopping()) {
        finish();
        return null;
      }
      loss = ship();
      if (loss == null) {
        loss = listen();
      }
      if (loss != null) {
        return loss;
      }
    }
  }

  private Loss readMail() throws TerminalFailure, InterruptedException {
    for (int read = 0; read < MOST_MAIL; read++) {
      Mailbox.Event event = mailbox.poll();
      if (event == null) {
        return null;
      }
      if (event.connection() != link.number()) {
        continue;
      }
      if (acks.awaitsLook() && endsConnection(event)) {
        // What was acknowledged before is settled first: it need not be sent again.
        Loss loss = lookSince(System.nanoTime());
        if (loss != null) {
          return loss;
        }
      }
      if (event instanceof Mailbox.Closed closed) {
        return strikes.closed(closed.info(), link.host());
      }
      Mailbox.Reply reply = (Mailbox.Reply) event;
      link.connection().taken(reply.bytes());
      Loss loss = read(reply.reply());
      if (loss != null) {
        return loss;
      }
    }
    return null;
  }

  private static boolean endsConnection(Mailbox.Event event) {
    return event instanceof Mailbox.Closed
        || event instanceof Mailbox.Reply reply && reply.reply() instanceof ServerReply.Nack;
  }

  private Loss read(ServerReply reply) throws TerminalFailure {
    if (reply instanceof ServerReply.Nack nack) {
      return nacks.onNack(nack, link.host());
    }
    if (reply instanceof ServerReply.DurableAck durable) {
      acks.onDurableAck(durable);
    } else if (reply instanceof ServerReply.Ok ok) {
      return acks.onOk(ok);
    }
    return null;
  }

  private void progressed() {
    caution.settled(ring.ackedFsn());
    strikes.settled(inFlight.okFsn());
    strikes.settled(ring.ackedFsn());
    if (inFlight.okFsn() != okBefore || ring.ackedFsn() != ackedBefore) {
      okBefore = inFlight.okFsn();
      silence.progressed(System.nanoTime());
    }
    if (ring.ackedFsn() != ackedBefore) {
      ackedBefore = ring.ackedFsn();
      silence.confirmed(System.nanoTime());
      pacer.progressed();
      caps.forgetAll();
      setup.status().progressed();
    }
  }

  private boolean somethingToShip() {
    long fsn = inFlight.nextFsn();
    return control.stopping()
        || (link.connection().isWritable()
            && fsn <= ring.publishedFsn()
            && !setup.plan().isRetired(fsn)
            && caution.maySend(fsn, inFlight.okFsn(), ring.ackedFsn())
            && !waitsToBeHead(fsn)
            && !waitsForFirstOk());
  }

  private boolean waitsForFirstOk() {
    if (audit.isAnswered(waitFor)) {
      return false;
    }
    patient &= System.nanoTime() - waitUntil < 0;
    return patient;
  }

  private boolean waitsToBeHead(long fsn) {
    boolean alone = link.tooLarge(ring.frameLength(fsn)) || symbols.begins(fsn);
    return alone && fsn > ring.ackedFsn() + 1;
  }

  private Loss ship() throws TerminalFailure, InterruptedException {
    skipRetired();
    for (int sent = 0; sent < FRAMES_BETWEEN_MAIL && somethingToShip(); sent++) {
      if (control.stopping()) {
        return null;
      }
      // Read after the frame was seen published: what it needs was announced before.
      long version = setup.gate().version();
      if (version != gateVersion) {
        Loss loss = askGate(() -> setup.gate().admitMore(link.connection().endpoint()), () -> {});
        if (loss != null) {
          return loss;
        }
        gateVersion = version;
      }
      Loss loss = lookAgain();
      if (loss != null) {
        return loss;
      }
      long fsn = inFlight.nextFsn();
      if (symbols.begins(fsn)) {
        if (!inFlight.fresh()) {
          return Loss.of(Loss.Kind.DICTIONARY, "the next frames go by an empty symbol dictionary");
        }
        symbols.enter(fsn);
      }
      loss = send(fsn, ring.frameLength(fsn));
      if (loss != null) {
        return loss;
      }
      skipRetired();
    }
    return null;
  }

  /** An aborted transaction at the end of a recovered slot: given up when all before it is in. */
  private void skipRetired() {
    long fsn = inFlight.nextFsn();
    if (setup.plan().isRetired(fsn) && ring.ackedFsn() == fsn - 1) {
      acks.giveUp(setup.plan().tailLast());
      inFlight.skipTo(setup.plan().tailLast() + 1);
    }
  }

  private Loss lookAgain() throws TerminalFailure, InterruptedException {
    long now = System.nanoTime();
    if (acks.isLookDue(now)) {
      return lookSince(now); // what is acknowledged is in the tables only if they are the same now
    }
    boolean quiet = inFlight.okFsn() + 1 >= inFlight.nextFsn();
    return setup.gate().isDue(quiet, now) ? lookSince(now - setup.gate().mayBeOld(quiet)) : null;
  }

  private Loss lookSince(long since) throws TerminalFailure, InterruptedException {
    Endpoint endpoint = link.connection().endpoint();
    return askGate(() -> setup.gate().admitAgain(endpoint, since), () -> acks.sameTables(since));
  }

  private Loss askGate(
      LoopControl.Interruptible<ConnectionGate.Look, GateClosed> question, Runnable same)
      throws TerminalFailure, InterruptedException {
    try {
      switch (control.interruptibly(question)) {
        case REPLACED -> {
          return Loss.of(
              Loss.Kind.FRAME,
              "a table was dropped, renamed or made anew; a server loses what comes through a"
                  + " connection that has written to the old one");
        }
        case UNKNOWN -> {
          return acks.unknownTables(System.nanoTime());
        }
        case SAME -> same.run();
      }
      return null;
    } catch (GateClosed closed) {
      if (closed.terminal()) {
        throw setup.gateClosed(closed, link.host());
      }
      return Loss.of(Loss.Kind.TRANSPORT, closed.getMessage());
    }
  }

  private Loss send(long fsn, int length) {
    QwpConnection connection = link.connection();
    if (link.tooLarge(length)) {
      String cause = ConnectionCycle.tooLarge(length, connection.maxBatchBytes());
      return Loss.of(Loss.Kind.CAP, cause);
    }
    ByteBuf message = connection.allocate(length);
    boolean sent = false;
    try {
      int offset = message.arrayOffset() + message.writerIndex();
      ring.copyFrame(fsn, message.array(), offset);
      audit.next(message.array(), offset, length);
      if (patient && audit.shouldWait() && !setup.gate().identifiesTables(connection.endpoint())) {
        waitFor = inFlight.lastSequence();
        waitUntil = System.nanoTime() + PATIENCE;
        return null;
      }
      if (catchUp != null && inFlight.fresh()) {
        int known = FrameLook.at(message.array(), offset, length).deltaStart();
        if (!catchUp.send(link, symbols.shipping(), known)) {
          return Loss.of(Loss.Kind.CAP, "a symbol is larger than the server takes");
        }
      }
      message.writerIndex(message.writerIndex() + length);
      audit.sent(System.nanoTime());
      connection.send(message);
      sent = true;
    } finally {
      if (!sent) {
        message.release();
      }
    }
    inFlight.sentFrame(length);
    setup.counters().framesSent.increment();
    if (fsn <= highestSent) {
      setup.counters().framesReplayed.increment();
    } else {
      highestSent = fsn;
    }
    long now = System.nanoTime();
    silence.sent(now);
    if (audit.isInGroup()) {
      silence.progressed(now); // nothing of a group is acknowledged before its end
    }
    return null;
  }

  private void sentDictionary() {
    inFlight.sentDictionary();
    audit.sentDictionary(System.nanoTime());
  }

  private Loss listen() throws TerminalFailure, InterruptedException {
    long now = System.nanoTime();
    stalls.look(now);
    QwpConnection connection = link.connection();
    long settled = Math.max(ring.ackedFsn(), inFlight.okFsn());
    silence.unacknowledged(inFlight.sent(settled + 1), now); // durable confirmations take longer
    boolean pending = acks.confirmationsPending();
    if (pending || acks.isLookDue(now)) {
      Loss loss = lookAgain();
      if (loss != null) {
        return loss;
      }
    }
    SilenceWatch.Verdict verdict = silence.look(now, pending);
    long waited = silence.waited(now);
    switch (verdict) {
      case DEAD -> {
        return strikes.unacknowledged(link.host(), silence.lacksConfirmations(now));
      }
      case PING -> {
        connection.ping();
        silence.pinged(now);
      }
      case NOTHING -> {}
    }
    if (waited >= UNWELL) {
      setup.status().unanswered(waited, link.host());
    }
    long nanos = silence.nextLook(now, pending);
    nanos = Math.min(nanos, acks.untilLook(now));
    if (!audit.isAnswered(waitFor) && patient) {
      nanos = Math.max(1, Math.min(nanos, waitUntil - now));
    }
    mailbox.await(nanos, this::somethingToShip);
    return null;
  }

  /** Closes the connection and counts what the server still says. */
  private void finish() throws TerminalFailure {
    boolean polite = control.how() == LoopControl.Stop.CLOSE;
    link.connection().close(polite ? CLOSE_MILLIS : DISCARD_MILLIS);
    for (Mailbox.Event event = mailbox.poll(); event != null; event = mailbox.poll()) {
      if (event.connection() == link.number() && event instanceof Mailbox.Reply reply) {
        if (polite && read(reply.reply()) != null) {
          return; // refused: nothing behind it is read
        }
      }
    }
  }
}
