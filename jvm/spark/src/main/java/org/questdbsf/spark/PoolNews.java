package org.questdbsf.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.questdbsf.sender.SenderError;

/**
 * What a {@link LanePool} has to tell: counters and reports, of lanes that ended as well, and
 * errors that the engine told of; and what of it was told already. Thread-safe; the pool holds its
 * own lock where lanes must not come and go meanwhile.
 */
final class PoolNews {
  private static final int MAX_DEPARTED = 256;
  private static final int MAX_NOTES = 256;

  private final Adopter adopter;
  private final ClaimBook shown = new ClaimBook();
  private final ClaimBook sent = new ClaimBook();
  private final ArrayDeque<LaneReport> departed = new ArrayDeque<>();
  private final long[] departedTotals = new long[SfMetric.values().length];
  private final ArrayDeque<String> notes = new ArrayDeque<>();

  /**
   * No news yet.
   *
   * @param adopter what sends the slots of ended processes, or null
   */
  PoolNews(Adopter adopter) {
    this.adopter = adopter;
  }

  boolean hasAdopter() {
    return adopter != null;
  }

  /** Takes over what a lane counted that leaves the pool. */
  synchronized void departed(Lane lane) {
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
    return totals;
  }

  /** What holds now; {@code buried} slots were set aside by this pool. */
  long[] gauges(Collection<Lane> lanes, int buried) {
    long[] gauges = new long[SfMetric.values().length];
    lanes.forEach(lane -> lane.gauge(gauges));
    if (adopter != null) {
      adopter.gauge(gauges);
    }
    int failed = SfMetric.FAILED_SLOTS.ordinal();
    gauges[failed] = Math.max(gauges[failed], buried);
    return gauges;
  }

  /** What the SQL tab was told. */
  ClaimBook shown() {
    return shown;
  }

  /** What the driver was told. */
  ClaimBook sent() {
    return sent;
  }

  /** Remembers an error that the engine tells of. */
  synchronized void note(SenderError error) {
    if (notes.size() >= MAX_NOTES) {
      notes.removeFirst();
    }
    notes.addLast(error.describe());
  }

  /** Such errors since the last call, oldest first. */
  synchronized List<String> takeNotes() {
    List<String> taken = new ArrayList<>(notes);
    notes.clear();
    return taken;
  }
}
