package org.questdbsf.sender;

import java.util.concurrent.Executor;
import java.util.function.Function;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentKeeper;

/** Gathers what a {@link DrainerPool} works with. Everything has a default. */
public final class DrainerPoolBuilder {
  final SenderConfig config;
  final SlotTarget own;
  DeadLetterSink deadLetters;
  Function<String, SenderErrorHandler> errors = slot -> null;
  DrainListener listener = DrainListener.NONE;
  SuspendedTables suspended = new SuspendedTables();
  SegmentKeeper keeper;
  DiskIo io = DiskIo.PRODUCTION;
  Executor workers = DrainerThreads::run;
  long scanMillis = 30_000;

  DrainerPoolBuilder(SenderConfig config, SlotTarget own) {
    this.config = config;
    this.own = own;
  }

  /** Where dropped frames are kept; default: beside the slots. */
  public DrainerPoolBuilder deadLetters(DeadLetterSink sink) {
    this.deadLetters = sink;
    return this;
  }

  /** Who is told of rejections; default: the log. */
  public DrainerPoolBuilder errorHandler(SenderErrorHandler handler) {
    return errorHandlers(slot -> handler);
  }

  /** The same, a handler for each slot by its name; null: the log. */
  public DrainerPoolBuilder errorHandlers(Function<String, SenderErrorHandler> bySlot) {
    this.errors = bySlot;
    return this;
  }

  public DrainerPoolBuilder listener(DrainListener told) {
    this.listener = told;
    return this;
  }

  /** What is known of suspended tables, where others share it. */
  public DrainerPoolBuilder suspended(SuspendedTables shared) {
    this.suspended = shared;
    return this;
  }

  /** Who does the file work; default: the one of this JVM. */
  public DrainerPoolBuilder keeper(SegmentKeeper shared) {
    this.keeper = shared;
    return this;
  }

  DrainerPoolBuilder diskIo(DiskIo disk) {
    this.io = disk;
    return this;
  }

  /** Who gives threads for what may wait. */
  DrainerPoolBuilder workers(Executor threads) {
    this.workers = threads;
    return this;
  }

  /** Time between two looks, and the first pause before a slot is tried again. */
  DrainerPoolBuilder scanMillis(long millis) {
    this.scanMillis = millis;
    return this;
  }

  /** Starts to look, at once. */
  public DrainerPool start() {
    if (keeper == null) {
      keeper = SegmentKeeper.shared();
    }
    if (deadLetters == null) {
      deadLetters = new LocalDeadLetters(config.sfDir().orElseThrow());
    }
    DrainerPool pool = new DrainerPool(this);
    pool.begin();
    return pool;
  }
}
