package org.questdbsf.sender;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.RecoveryReport;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.SegmentRing;
import org.questdbsf.slot.Slot;

/** Puts a {@link Sender} together from what its builder says; leaves nothing open when it fails. */
final class SenderOpener {
  private static final AtomicLong UNNAMED = new AtomicLong();

  private final SenderBuilder from;
  private final SenderConfig config;

  SenderOpener(SenderBuilder from) {
    this.from = from;
    this.config = from.config;
  }

  Sender open() throws InterruptedException {
    ClearCredentials.warn(config);
    Slot slot = from.slot != null ? from.slot : openSlot();
    SegmentRing ring = slot == null ? openMemory() : slot.ring();
    AutoCloseable storage = slot == null ? ring : slot;
    SenderCloser closer = null;
    boolean opened = false;
    try {
      SymbolDictionary dictionary = SymbolEpochs.dictionary();
      // First: where this version cannot send a slot's frames, it leaves the slot as it is.
      ReplayPlan plan = plan(slot, ring, dictionary);
      if (slot != null) {
        slot.settle();
      }
      SlotNote note = slot == null ? null : new SlotNote(slot, target());
      TableCheck check = from.gate == null ? tableCheck() : null;
      PlainTables tables = check == null ? null : new PlainTables(check, note);
      LoopSetup setup =
          setUp(slot, ring, dictionary, plan, note, check == null ? from.gate : check);
      SendLoop loop = new SendLoop(setup, from.pacer, from.outages);
      closer = new SenderCloser(setup, loop, storage);
      Sender sender = new Sender(setup, tables, appendDeadlineMillis(), note, closer);
      loop.start();
      closer.drainers(adopter());
      awaitFirstConnection(setup);
      opened = true;
      return sender;
    } finally {
      if (!opened) {
        abandon(closer, slot, ring);
      }
    }
  }

  private static void abandon(SenderCloser closer, Slot slot, SegmentRing ring) {
    if (closer != null) {
      closer.discard();
    } else if (slot != null) {
      slot.close();
    } else {
      ring.close();
    }
  }

  private ReplayPlan plan(Slot slot, SegmentRing ring, SymbolDictionary dictionary)
      throws InterruptedException {
    boolean leftovers = slot != null && ring.publishedFsn() > ring.ackedFsn();
    return leftovers ? ReplayPlan.read(ring, name(slot), dictionary) : ReplayPlan.ofEmpty();
  }

  private TableCheck tableCheck() {
    return new TableCheck(new SqlOverHttp(config.connectSettings()));
  }

  private LoopSetup setUp(
      Slot slot,
      SegmentRing ring,
      SymbolDictionary dictionary,
      ReplayPlan plan,
      SlotNote note,
      ConnectionGate gate) {
    String name = name(slot);
    SenderCounters counters = new SenderCounters();
    SenderStatus status = new SenderStatus(name);
    FrameCap cap =
        new FrameCap(
            ring.maxFrameBytes(),
            config.endpoints().size(),
            note == null ? 0 : note.rememberedCap(),
            note == null ? seen -> {} : note::rememberCap);
    ErrorInbox inbox =
        new ErrorInbox(
            name, config.errorInboxCapacity(), from.errorHandler, status::delivered, counters);
    if (slot != null) {
      slot.report().missing().forEach(frames -> tell(frames, slot, inbox, counters));
    }
    return new LoopSetup(
        name,
        ring,
        new SymbolEpochs(slot != null, dictionary, plan.dictionaryStarts()),
        plan,
        config,
        from.policies,
        gate,
        deadLetters(slot),
        counters,
        status,
        new PublishTimes(),
        cap,
        inbox);
  }

  private static void tell(
      RecoveryReport.Missing frames, Slot slot, ErrorInbox inbox, SenderCounters counters) {
    counters.framesMissing.add(frames.toFsn() - frames.fromFsn() + 1);
    inbox.offer(
        new SenderError(
            Category.LOCAL_FAILURE,
            Policy.DROP,
            -1,
            -1,
            frames.fromFsn(),
            frames.toFsn(),
            null,
            0,
            "slot " + slot.directory() + " was opened without these frames: they " + frames.why(),
            null,
            Instant.now(),
            null));
  }

  /** The adopter of a plain sender; whoever hands in slots has one of their own. */
  private DrainerPool adopter() {
    boolean wanted =
        from.slot == null
            && config.sfDir().isPresent()
            && config.drainOrphans() != DrainOrphans.OFF
            && config.maxBackgroundDrainers() > 0;
    if (!wanted) {
      return null;
    }
    DrainerPoolBuilder pool = DrainerPool.builder(config, target()).keeper(keeper());
    if (from.deadLetters != null) {
      pool.deadLetters(from.deadLetters);
    }
    if (from.errorHandler != null) {
      pool.errorHandler(from.errorHandler);
    }
    return pool.start();
  }

  private String name(Slot slot) {
    if (from.name != null) {
      return from.name;
    }
    return slot != null ? slot.name() : "memory-" + UNNAMED.incrementAndGet();
  }

  private SlotTarget target() {
    return from.target != null ? from.target : SlotTarget.of(config, List.of(), "questdb-sf");
  }

  private DeadLetterSink deadLetters(Slot slot) {
    if (from.deadLetters != null) {
      return from.deadLetters;
    }
    return slot == null ? null : new LocalDeadLetters(slot.directory().getParent());
  }

  private SegmentRing openMemory() {
    return SegmentRing.memory(config.ringSettings(), share(), keeper());
  }

  private Slot openSlot() throws InterruptedException {
    Path sfDir = config.sfDir().orElse(null);
    if (sfDir == null) {
      return null;
    }
    SegmentBudget.Share share = share();
    boolean opened = false;
    try {
      Slot slot =
          Slot.openToLook(
              sfDir, config.senderId(), config.ringSettings(), share, keeper(), DiskIo.PRODUCTION);
      opened = true;
      return slot;
    } finally {
      if (!opened) {
        share.close();
      }
    }
  }

  private SegmentBudget.Share share() {
    SegmentBudget budget =
        from.budget != null ? from.budget : new SegmentBudget(config.totalBytes());
    return budget.open(config.segmentBytes());
  }

  private SegmentKeeper keeper() {
    return from.keeper != null ? from.keeper : SegmentKeeper.shared();
  }

  /** A lane waits for room as long as its task runs; a plain sender up to its deadline. */
  private long appendDeadlineMillis() {
    return config.preset() == ConfigPreset.SINK ? -1 : config.appendDeadlineMillis();
  }

  private void awaitFirstConnection(LoopSetup setup) throws InterruptedException {
    if (config.initialConnect() != InitialConnect.ASYNC) {
      setup.status().await(setup.status()::connectedOnce, -1);
    }
  }
}
