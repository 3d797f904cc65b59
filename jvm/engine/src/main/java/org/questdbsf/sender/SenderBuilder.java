package org.questdbsf.sender;

import java.util.Objects;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;

/** Collects what a {@link Sender} is made of. Everything but the settings has a default. */
public final class SenderBuilder {
  final SenderConfig config;
  ConnectionGate gate; // null: the tables of the rows are checked
  SenderErrorHandler errorHandler;
  PolicyDefaults policies;
  SegmentBudget budget;
  SegmentKeeper keeper;
  Slot slot;
  String name;
  DeadLetterSink deadLetters;
  SlotTarget target;
  OutageClock outages = new OutageClock();
  ReconnectPacer pacer = new ReconnectPacer(ReconnectPacer.MOST_A_SECOND);

  SenderBuilder(SenderConfig config) {
    this.config = Objects.requireNonNull(config, "config");
    this.policies =
        config.preset() == ConfigPreset.SINK ? PolicyDefaults.SINK : PolicyDefaults.ENGINE;
  }

  /**
   * What must hold before anything is shipped on a connection; default: a {@link TableCheck} that
   * the tables take the columns of the rows unchanged.
   */
  public SenderBuilder gate(ConnectionGate gate) {
    this.gate = Objects.requireNonNull(gate, "gate");
    return this;
  }

  /** Who is told of errors; default: the log. */
  public SenderBuilder errorHandler(SenderErrorHandler errorHandler) {
    this.errorHandler = Objects.requireNonNull(errorHandler, "errorHandler");
    return this;
  }

  /** Which policies hold where no key says so; default: those of the settings' preset. */
  public SenderBuilder policies(PolicyDefaults policies) {
    this.policies = Objects.requireNonNull(policies, "policies");
    return this;
  }

  /** The bytes this sender shares with others; default: {@code sf_max_total_bytes} of its own. */
  public SenderBuilder budget(SegmentBudget budget) {
    this.budget = Objects.requireNonNull(budget, "budget");
    return this;
  }

  /** Who does the file work; default: the one of this JVM. */
  public SenderBuilder keeper(SegmentKeeper keeper) {
    this.keeper = Objects.requireNonNull(keeper, "keeper");
    return this;
  }

  /**
   * The slot to append to, already open; the sender closes it, also when {@link #build} fails.
   * Default: {@code sf_dir}/{@code sender_id} where {@code sf_dir} is set, else a ring in memory.
   */
  public SenderBuilder freshSlot(Slot slot) {
    this.slot = Objects.requireNonNull(slot, "slot");
    return this;
  }

  /** Name of the sender in logs, threads and dead letters; default: the slot's, or a number. */
  public SenderBuilder name(String name) {
    this.name = Objects.requireNonNull(name, "name");
    return this;
  }

  /** Where dropped frames are kept; default: beside the slot, or nowhere for a ring in memory. */
  public SenderBuilder deadLetters(DeadLetterSink deadLetters) {
    this.deadLetters = Objects.requireNonNull(deadLetters, "deadLetters");
    return this;
  }

  /**
   * What {@code .target} of the slot says; written before the first frame, and again when the cap
   * of a server becomes known. Default: what the settings say, without tables.
   */
  public SenderBuilder target(SlotTarget target) {
    this.target = Objects.requireNonNull(target, "target");
    return this;
  }

  /** Shared with the senders that this one takes over from; default: one of its own. */
  public SenderBuilder outages(OutageClock outages) {
    this.outages = Objects.requireNonNull(outages, "outages");
    return this;
  }

  /**
   * Opens the ring and starts the send loop. With {@code initial_connect_retry=off} or {@code on}
   * it returns when a server is connected, with {@code async} at once.
   *
   * @throws org.questdbsf.error.SfException when the slot cannot be opened, or no server is there
   *     in time
   * @throws InterruptedException when interrupted; nothing is left open
   */
  public Sender build() throws InterruptedException {
    return new SenderOpener(this).open();
  }
}
