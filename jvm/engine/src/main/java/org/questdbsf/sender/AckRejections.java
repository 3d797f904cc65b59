package org.questdbsf.sender;

import java.time.Instant;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.ServerReply;
import org.questdbsf.sender.Refusal.Hope;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What follows an OK that does not prove what it acknowledges. Nothing of it counts: the connection
 * is replaced, because the server may lose what is written through it, and everything
 * unacknowledged is sent again. Loop's thread only.
 */
final class AckRejections {
  private static final Logger LOG = LoggerFactory.getLogger(AckRejections.class);

  /** A drop explains one rejection, or two where it meets the replay; after that others do. */
  private static final int EXPLAINED_BY_DROPS = 2;

  private static final int NONE = -1;

  private final LoopSetup setup;
  private final InFlight inFlight;
  private final Strikes strikes;
  private final TableActivity activity;
  private long rejectedHead = NONE;
  private int times;

  AckRejections(LoopSetup setup, InFlight inFlight, Strikes strikes, TableActivity activity) {
    this.setup = setup;
    this.inFlight = inFlight;
    this.strikes = strikes;
    this.activity = activity;
  }

  /**
   * Looks at an unproven OK in the light of the ones before it. A frame that was rejected on one
   * connection after the other is not lost to a drop: its tables are identified where SQL can tell,
   * and a server that has never named any table does not name tables.
   */
  OkAudit.Verdict secondOpinion(ServerReply.Ok ok, Link link) {
    Endpoint endpoint = link.connection().endpoint();
    boolean nameless = ok.tables().isEmpty() && !activity.namesTables();
    if (nameless && activity.isNameless()) {
      return OkAudit.Verdict.PROVEN;
    }
    if (timesOfHead() < EXPLAINED_BY_DROPS) {
      return OkAudit.Verdict.UNPROVEN;
    }
    if (nameless) {
      if (activity.foundNameless()) {
        tellNameless(endpoint);
      }
      return OkAudit.Verdict.PROVEN;
    }
    return setup.gate().identifiesTables(endpoint)
        ? OkAudit.Verdict.OPEN
        : OkAudit.Verdict.UNPROVEN;
  }

  private int timesOfHead() {
    return rejectedHead == head() ? times : 0;
  }

  private long head() {
    return setup.ring().ackedFsn() + 1;
  }

  private void tellNameless(Endpoint endpoint) {
    String text =
        "Server "
            + endpoint
            + " acknowledges rows without naming their tables. Its word is taken for it: rows that"
            + " it loses when a table is dropped, renamed or made anew are not noticed.";
    LOG.warn("sender '{}': {}", setup.name(), text);
    setup.inbox().offer(setup.notice(text));
  }

  /**
   * Nothing of an OK counts.
   *
   * @param table the table it should have named
   * @param why what it says of the table instead
   * @return how the connection is given up
   * @throws TerminalFailure when the head frame was rejected so often that it is poison
   */
  Loss reject(ServerReply.Ok ok, String table, String why, Link link) throws TerminalFailure {
    long first = head();
    long last = inFlight.fsnOf(ok.sequence());
    times = timesOfHead() + 1;
    rejectedHead = first;
    setup.counters().acksRejected.increment();
    setup.gate().unproven(link.connection().endpoint(), table);
    String text =
        "the acknowledgement of frames %d to %d proves nothing for table '%s': it %s. The table was"
                .formatted(first, last, table, why)
            + " dropped, renamed or made anew, and the server threw rows away; everything"
            + " unacknowledged is sent again through a new connection";
    SenderError error =
        new SenderError(
            Category.PROTOCOL_VIOLATION,
            Policy.RETRY,
            -1,
            ok.sequence(),
            first,
            last,
            table,
            0,
            text,
            link.host(),
            Instant.now(),
            null);
    if (!setup.inbox().logs()) {
      LOG.warn("sender '{}': {}", setup.name(), error.describe());
    }
    if (times > EXPLAINED_BY_DROPS) {
      return strikes.refused(error, Hope.UNCLEAR);
    }
    setup.inbox().offer(error);
    return Loss.of(Loss.Kind.FRAME, error.describe());
  }
}
