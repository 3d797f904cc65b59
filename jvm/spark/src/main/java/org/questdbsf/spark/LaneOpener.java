package org.questdbsf.spark;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.sender.DeadLetterSink;
import org.questdbsf.sender.OutageClock;
import org.questdbsf.sender.Sender;
import org.questdbsf.sender.SenderBuilder;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SenderError;
import org.questdbsf.sender.SuspendedTables;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;

/** Opens lanes of one pool: a ring in memory, or the first slot that is free and empty. */
final class LaneOpener {
  /** Makes the opener of a pool, which wants to hear of errors and of suspended tables. */
  @FunctionalInterface
  interface Factory {
    LaneOpener open(Errors errors, SuspendedTables suspended);
  }

  /** Wants to hear of the errors of lanes. */
  @FunctionalInterface
  interface Errors {
    /** Called on a thread of the engine; {@code slot} is the directory, or the lane's name. */
    void noted(SenderError error, String slot, FrameLog frames);
  }

  private static final AtomicInteger NAMES = new AtomicInteger();

  private final LaneSettings settings;
  private final SenderConfig config;
  private final SegmentBudget budget;
  private final Errors errors;
  private final SuspendedTables suspended;
  private final DeadLetterSink deadLetters;
  private final OutageClock outages = new OutageClock();
  private volatile boolean looked;

  LaneOpener(
      LaneSettings settings,
      SenderConfig config,
      SegmentBudget budget,
      Errors errors,
      SuspendedTables suspended,
      DeadLetterSink deadLetters) {
    this.settings = settings;
    this.config = config;
    this.budget = budget;
    this.errors = errors;
    this.suspended = suspended;
    this.deadLetters = deadLetters;
  }

  /** Whether {@link #open} works on the disk, and so must not run on a task's thread. */
  boolean usesDisk() {
    return config.sfDir().isPresent();
  }

  /** Whether the lanes of both take from the same bytes. */
  boolean sharesBudget(LaneOpener other) {
    return budget == other.budget;
  }

  /** Waits for room for one more lane, at most so long. */
  void awaitRoom(long millis) throws InterruptedException {
    budget.awaitRoom(config.segmentBytes(), millis);
  }

  /**
   * Opens a lane. The connection is made in the background.
   *
   * @throws SfException SLOT_*, DISK_*, BACKPRESSURE_TIMEOUT when the budget has no room for it
   */
  Lane open() throws InterruptedException {
    if (!looked) {
      UndrainedSlots.refuse(settings, config);
      looked = true;
    }
    TableCheck check = new TableCheck(new SqlOverHttp(config.connectSettings()), suspended);
    if (settings.plan().table() != null) {
      check.require(settings.table(settings.plan().table()));
    }
    FrameLog frames = new FrameLog();
    SenderBuilder builder = Sender.builder(config).gate(check).budget(budget).outages(outages);
    if (deadLetters != null) {
      builder.deadLetters(deadLetters);
    }
    if (!usesDisk()) {
      String name = "lane-" + NAMES.incrementAndGet();
      builder.name(name).errorHandler(error -> errors.noted(error, name, frames));
      return new Lane(settings, config, builder.build(), check, null, frames);
    }
    Slot slot = openSlot();
    String place = slot.directory().toString();
    builder.errorHandler(error -> errors.noted(error, place, frames));
    Sender sender = builder.freshSlot(slot).target(Lane.target(config, check)).build();
    return new Lane(settings, config, sender, check, slot, frames);
  }

  /** A lane appends only to a slot that it started empty: what holds frames is the adopter's. */
  private Slot openSlot() throws InterruptedException {
    Path dir = config.sfDir().orElseThrow();
    int from = 0;
    while (true) {
      String name = SlotDirectory.firstFreeName(dir, config.senderId(), from, DiskIo.PRODUCTION);
      from = Integer.parseInt(name.substring(name.lastIndexOf('-') + 1)) + 1;
      Slot slot = tryOpen(dir, name);
      if (slot == null) {
        continue; // another process was quicker
      }
      if (slot.startedEmpty()) {
        return slot;
      }
      slot.close();
    }
  }

  private Slot tryOpen(Path dir, String name) throws InterruptedException {
    SegmentBudget.Share share = budget.open(config.segmentBytes());
    Slot slot = null;
    try {
      slot =
          Slot.open(
              dir, name, config.ringSettings(), share, SegmentKeeper.shared(), DiskIo.PRODUCTION);
      return slot;
    } catch (SfException e) {
      if (e.code() == ErrorCode.SLOT_LOCKED) {
        return null;
      }
      throw e;
    } finally {
      if (slot == null) {
        share.close();
      }
    }
  }
}
