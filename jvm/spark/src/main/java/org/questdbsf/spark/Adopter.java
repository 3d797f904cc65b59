package org.questdbsf.spark;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.DeadLetterSink;
import org.questdbsf.sender.DrainListener;
import org.questdbsf.sender.DrainerPool;
import org.questdbsf.sender.DrainerPoolBuilder;
import org.questdbsf.sender.Policy;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SenderError;
import org.questdbsf.sender.SlotTarget;
import org.questdbsf.sender.SuspendedTables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the slots that ended processes left in {@code sf_dir}, and remembers which; and what was
 * refused of them, until a pool takes it to the driver. Thread-safe.
 */
final class Adopter implements DrainListener {
  private static final Logger LOG = LoggerFactory.getLogger(Adopter.class);
  private static final int MAX_REMEMBERED = 256;

  /** What rows a frame holds is not known any more: the process that wrote them is gone. */
  private static final FrameLog NO_ROWS = new FrameLog();

  private final Path sfDir;
  private final DrainerPool drainers;
  private final ArrayDeque<LaneReport> drained = new ArrayDeque<>();
  private final ArrayDeque<Function<String, SfEvent>> events = new ArrayDeque<>();

  /** Slots whose end was told of in the server's own words. */
  private final Set<String> ended = new HashSet<>();

  private final LongAdder serverErrors = new LongAdder();
  private final LongAdder rowsDropped = new LongAdder();
  private final SuspendedTables suspended = new SuspendedTables(this::suspended);
  private long eventsDropped;

  /** Starts at once. */
  Adopter(SenderConfig config, DeadLetterSink deadLetters) {
    this.sfDir = config.sfDir().orElseThrow().toAbsolutePath().normalize();
    DrainerPoolBuilder builder =
        DrainerPool.builder(config, SlotTarget.of(config, List.of(), "questdb-sf-spark"))
            .listener(this)
            .suspended(suspended)
            .errorHandlers(slot -> error -> refused(slot, error));
    if (deadLetters != null) {
      builder.deadLetters(deadLetters);
    }
    this.drainers = builder.start();
  }

  @Override
  public void drained(String slot, long publishedFsn) {
    synchronized (drained) {
      if (drained.size() >= MAX_REMEMBERED) {
        drained.removeFirst();
      }
      drained.addLast(
          new LaneReport(
              sfDir.resolve(slot).toString(),
              Lane.nextIncarnation(),
              publishedFsn,
              publishedFsn,
              0,
              0));
    }
  }

  private void refused(String slot, SenderError error) {
    LOG.warn("Slot {}: {}", slot, error.describe());
    serverErrors.add(error.status() >= 0 ? 1 : 0);
    rowsDropped.add(error.policy() == Policy.DROP ? error.rows() : 0);
    if (error.policy() == Policy.HALT) {
      synchronized (events) {
        ended.add(slot);
      }
    }
    String place = sfDir.resolve(slot).toString();
    note(queryId -> SfEvent.of(SfErrorEvent.of(error, place, NO_ROWS, queryId)));
  }

  /** The end of a slot's sending is told of once: by the sender, or here where there was none. */
  @Override
  public void failed(String slot, SfException error, boolean givenUp) {
    synchronized (events) {
      if (ended.remove(slot)) {
        return;
      }
    }
    String place = sfDir.resolve(slot).toString();
    note(queryId -> SfEvent.of(SfErrorEvent.of(error, givenUp, place, queryId)));
  }

  private void suspended(String text) {
    Instant at = Instant.now();
    note(queryId -> SfEvent.ofTable(at, queryId, text));
  }

  /** Remembers an event; the oldest goes where there are too many. */
  private void note(Function<String, SfEvent> event) {
    synchronized (events) {
      if (events.size() >= MAX_REMEMBERED) {
        events.removeFirst();
        eventsDropped++;
      }
      events.addLast(event);
    }
    Housekeeper.soon(LanePools::pushAll);
  }

  /** Whether events wait to be taken. */
  boolean hasEvents() {
    synchronized (events) {
      return !events.isEmpty();
    }
  }

  /** Events since the last call, oldest first, as ones of this query. */
  List<SfEvent> takeEvents(String queryId) {
    synchronized (events) {
      List<SfEvent> taken = events.stream().map(event -> event.apply(queryId)).toList();
      events.clear();
      return taken;
    }
  }

  /** Slots sent to the end, with an incarnation above that of the lanes that filled them. */
  List<LaneReport> drained() {
    synchronized (drained) {
      return new ArrayList<>(drained);
    }
  }

  /** Adds counters by ordinal of {@link SfMetric}. */
  void addTo(long[] totals) {
    totals[SfMetric.DRAINERS_SUCCEEDED.ordinal()] += drainers.succeeded();
    totals[SfMetric.DRAINERS_FAILED.ordinal()] += drainers.failed();
    totals[SfMetric.SERVER_ERRORS.ordinal()] += serverErrors.sum();
    totals[SfMetric.ROWS_DROPPED.ordinal()] += rowsDropped.sum();
    synchronized (events) {
      totals[SfMetric.ERROR_NOTIFICATIONS_DROPPED.ordinal()] += eventsDropped;
    }
  }

  /** What the adopted slots and the lanes beside them know of suspended tables. */
  SuspendedTables suspended() {
    return suspended;
  }

  /** Sets gauges by ordinal of {@link SfMetric}, and adds the tables that are suspended. */
  void gauge(long[] gauges, Set<String> suspendedTables) {
    suspendedTables.addAll(drainers.suspendedTables());
    gauges[SfMetric.DRAINERS_ACTIVE.ordinal()] += drainers.active();
    gauges[SfMetric.FAILED_SLOTS.ordinal()] += drainers.failedSlots();
    gauges[SfMetric.STRANDED_SLOTS.ordinal()] += drainers.strandedSlots();
  }
}
