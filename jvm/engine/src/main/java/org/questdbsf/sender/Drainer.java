package org.questdbsf.sender;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.questdbsf.error.SfException;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One adopted slot, being sent. Whoever opened it, and one who ends it; the rest may be asked by
 * any thread.
 */
final class Drainer {
  private static final Logger LOG = LoggerFactory.getLogger(Drainer.class);

  private final Slot slot;
  private final Sender sender;
  private final TableCheck check; // null where nothing says what to ask of the tables

  private Drainer(Slot slot, Sender sender, TableCheck check) {
    this.slot = slot;
    this.sender = sender;
    this.check = check;
  }

  /**
   * Locks and recovers an orphan and begins to send it, to the servers of {@code config}.
   *
   * @throws SfException SLOT_LOCKED if somebody was quicker; SLOT_REFUSED if it is damaged
   */
  static Drainer open(
      OrphanScanner.Orphan orphan,
      SenderConfig config,
      DeadLetterSink deadLetters,
      SenderErrorHandler errors,
      SuspendedTables suspended,
      SegmentKeeper keeper,
      DiskIo io)
      throws InterruptedException {
    Path sfDir = config.sfDir().orElseThrow();
    TableCheck check =
        check(orphan, config, suspended); // first: a target that is refused locks nothing
    // What an orphan holds is on the disk already: it takes nothing from the lanes' budget.
    SegmentBudget budget = new SegmentBudget(2 * config.segmentBytes());
    Slot slot =
        Slot.openToLook(
            sfDir,
            orphan.name(),
            config.ringSettings(),
            budget.open(config.segmentBytes()),
            keeper,
            io);
    SenderBuilder builder = Sender.builder(config).freshSlot(slot);
    builder.name(orphan.name()).keeper(keeper).deadLetters(deadLetters);
    orphan.target().ifPresent(builder::target);
    builder.gate(check == null ? ConnectionGate.OPEN : check);
    if (errors != null) {
      builder.errorHandler(errors);
    }
    return new Drainer(slot, builder.build(), check);
  }

  private static TableCheck check(
      OrphanScanner.Orphan orphan, SenderConfig config, SuspendedTables suspended) {
    if (orphan.target().isEmpty()) {
      return null;
    }
    TableCheck check = new TableCheck(new SqlOverHttp(config.connectSettings()), suspended);
    orphan.target().get().tables().forEach(check::require);
    return check;
  }

  /** Its tables that are suspended; see {@link TableCheck#suspendedTables}. Any thread. */
  Set<String> suspendedTables() {
    return check == null ? Set.of() : check.suspendedTables();
  }

  String name() {
    return slot.name();
  }

  long ackedFsn() {
    return sender.ackedFsn();
  }

  long publishedFsn() {
    return sender.publishedFsn();
  }

  boolean isDrained() {
    return sender.ackedFsn() >= sender.publishedFsn();
  }

  /** Why it will not go on by itself. */
  Optional<SfException> error() {
    try {
      sender.checkError();
      return Optional.empty();
    } catch (SfException e) {
      return Optional.of(e);
    }
  }

  /** Keeps adopters away from now on, this one included. */
  void markFailed(SfException error) {
    slot.writeFailed(reason(error));
  }

  /** Leaves a note for people. */
  void noteError(SfException error) {
    slot.writeLastError(reason(error));
  }

  /** Lets adopters at it again. */
  void clearFailed() {
    slot.clearFailed();
  }

  SenderState state() {
    return sender.state();
  }

  private String reason(SfException error) {
    return "frames "
        + (ackedFsn() + 1)
        + ".."
        + publishedFsn()
        + " are not acknowledged: "
        + error.getMessage();
  }

  /** Stops sending and gives the slot back. What goes wrong is logged: the frames are safe. */
  void close() {
    try {
      sender.close();
    } catch (SfException e) {
      LOG.warn("Orphaned slot {} is given back with a failure", name(), e);
    }
  }
}
