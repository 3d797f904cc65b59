package org.questdbsf.spark;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.questdbsf.sender.SenderState;
import org.questdbsf.sender.SuspendedTables;

/**
 * What a {@link LanePool} has to tell: counters and reports, of lanes that ended as well, and
 * events that the engine told of; and what of it was told already. Thread-safe; the pool holds its
 * own lock where lanes must not come and go meanwhile.
 */
final class PoolNews {
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MAX_DEPARTED = 256;
  private static final int MAX_EVENTS = 256;

  private final Adopter adopter;
  private final ClaimBook shown = new ClaimBook();
  private final ClaimBook sent = new ClaimBook();
  private final ArrayDeque<LaneReport> departed = new ArrayDeque<>();
  private final long[] departedTotals = new long[SfMetric.values().length];
  private final ArrayDeque<SfEvent> events = new ArrayDeque<>();
  private final SuspendedTables suspended;
  private final LongAdder rows = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private long eventsDropped;
  private long lastDeparture = System.nanoTime() - TELL_NANOS;
  private volatile String queryId;

  /**
   * No news yet.
   *
   * @param adopter what sends the slots of ended processes, or null
   * @param queryId the query that the pool is made for
   */
  PoolNews(Adopter adopter, String queryId) {
    this.adopter = adopter;
    this.queryId = queryId;
    this.suspended = adopter == null ? new SuspendedTables(this::suspended) : adopter.suspended();
  }

  /** On a send loop's thread, which waits for nobody. */
  private void suspended(String text) {
    SfEvent event = SfEvent.ofTable(Instant.now(), queryId, text);
    Housekeeper.soon(
        () -> {
          note(event);
          LanePools.pushAll();
        });
  }

  /** What the pool's lanes and its adopter know of suspended tables. */
  SuspendedTables suspended() {
    return suspended;
  }

  /** The query that used the pool last, which is told its news. */
  String queryId() {
    return queryId;
  }

  void usedBy(String query) {
    queryId = query;
  }

  boolean hasAdopter() {
    return adopter != null;
  }

  /** Takes over what a lane counted that leaves the pool. */
  synchronized void departed(Lane lane) {
    lastDeparture = System.nanoTime();
    departed.addLast(lane.report());
    if (departed.size() > MAX_DEPARTED) {
      departed.removeFirst();
    }
    lane.addTo(departedTotals);
  }

  synchronized List<LaneReport> reports(Collection<Lane> lanes) {
    List<LaneReport> reports = new ArrayList<>(departed);
    lanes.forEach(lane -> reports.add(lane.report()));
    return reports;
  }

  /** Slots of ended processes that were sent to the end. */
  List<LaneReport> adopted() {
    return adopter == null ? List.of() : adopter.drained();
  }

  synchronized long[] totals(Collection<Lane> lanes) {
    long[] totals = departedTotals.clone();
    lanes.forEach(lane -> lane.addTo(totals));
    if (adopter != null) {
      adopter.addTo(totals);
    }
    totals[SfMetric.ERROR_NOTIFICATIONS_DROPPED.ordinal()] += eventsDropped;
    return totals;
  }

  /** What holds now; {@code buried} slots were set aside by this pool. */
  long[] gauges(Collection<Lane> lanes, int buried) {
    long[] gauges = new long[SfMetric.values().length];
    Set<String> tables = new HashSet<>(); // by name: four lanes of one table see one
    lanes.forEach(lane -> lane.gauge(gauges, tables));
    if (adopter != null) {
      adopter.gauge(gauges, tables);
    }
    gauges[SfMetric.SUSPENDED_TABLES.ordinal()] = tables.size();
    int failed = SfMetric.FAILED_SLOTS.ordinal();
    gauges[failed] = Math.max(gauges[failed], buried);
    return gauges;
  }

  /** The state of the lane that does worst; null without lanes. */
  SenderState worst(Collection<Lane> lanes) {
    return lanes.stream()
        .map(lane -> lane.sender().state())
        .max(Comparator.comparing(SenderState::kind))
        .orElse(null);
  }

  /** What the SQL tab was told. */
  ClaimBook shown() {
    return shown;
  }

  /** What the driver was told. */
  ClaimBook sent() {
    return sent;
  }

  /** Counts what a task committed. */
  void committed(long moreRows, long moreBytes) {
    rows.add(moreRows);
    bytes.add(moreBytes);
  }

  /** Rows of tasks that committed. */
  long rows() {
    return rows.sum();
  }

  /** Bytes of those rows. */
  long bytes() {
    return bytes.sum();
  }

  /** Remembers an event; the oldest goes where there are too many. */
  synchronized void note(SfEvent event) {
    if (events.size() >= MAX_EVENTS) {
      events.removeFirst();
      eventsDropped++;
    }
    events.addLast(event);
  }

  /** Such events since the last call, those of adopted slots included; each kind oldest first. */
  synchronized List<SfEvent> takeEvents() {
    List<SfEvent> taken = new ArrayList<>(events);
    events.clear();
    if (adopter != null) {
      taken.addAll(adopter.takeEvents(queryId));
    }
    return taken;
  }

  /** Whether no event waits, and the last lane left so long ago that the driver knows how. */
  synchronized boolean areOld() {
    return events.isEmpty()
        && (adopter == null || !adopter.hasEvents())
        && System.nanoTime() - lastDeparture > TELL_NANOS;
  }
}
