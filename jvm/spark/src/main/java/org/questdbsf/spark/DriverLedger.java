package org.questdbsf.spark;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver knows of one query run from the messages of its tasks: counters, gauges, and
 * which rows are committed but not yet acknowledged, by slot and FSN. Thread-safe.
 */
final class DriverLedger {
  private static final Logger LOG = LoggerFactory.getLogger(DriverLedger.class);

  /** A ring: a slot directory on a host, and the time that it was used. */
  private record Ring(String host, String place, long incarnation) {}

  /** Rows of one task, in frames up to this FSN. */
  private record Committed(long fsn, long rows) {}

  private record Executor(String host, String id) {}

  private final boolean onDisk;
  private final long[] counters = new long[SfMetric.values().length];
  private final long[] unshown = new long[SfMetric.values().length];
  private final Map<Executor, long[]> gauges = new HashMap<>();
  private final Map<Executor, String> health =
      new TreeMap<>(java.util.Comparator.comparing(Executor::host).thenComparing(Executor::id));
  private final Map<Ring, ArrayDeque<Committed>> waiting = new LinkedHashMap<>();

  DriverLedger(boolean onDisk) {
    this.onDisk = onDisk;
  }

  /** Takes over what the tasks of one batch said; entries may be null. */
  synchronized void commit(WriterCommitMessage[] messages) {
    for (WriterCommitMessage message : messages) {
      if (message instanceof SfCommitMessage said) {
        take(said.report());
      }
    }
  }

  /** Takes over what one executor said. */
  synchronized void take(TaskReport said) {
    for (int i = 0; i < counters.length; i++) {
      counters[i] += said.counted()[i];
      unshown[i] += said.unshown()[i];
    }
    counters[SfMetric.ROWS_WRITTEN.ordinal()] += said.rows();
    counters[SfMetric.BYTES_WRITTEN.ordinal()] += said.bytes();
    counters[SfMetric.ROWS_DROPPED.ordinal()] += said.rowsDropped();
    Executor executor = new Executor(said.host(), said.executorId());
    gauges.put(executor, said.gauges());
    health.put(executor, said.health());
    if (onDisk && said.lane() != null && said.rows() > 0) {
      Ring ring = new Ring(said.host(), said.lane().slot(), said.lane().incarnation());
      waiting
          .computeIfAbsent(ring, key -> new ArrayDeque<>())
          .addLast(new Committed(said.publishedFsn(), said.rows()));
    }
    for (LaneReport lane : said.lanes()) {
      acknowledged(new Ring(said.host(), lane.slot(), lane.incarnation()), lane.ackedFsn());
    }
    for (LaneReport slot : said.adopted()) {
      waiting
          .keySet()
          .removeIf(
              ring ->
                  ring.host().equals(said.host())
                      && ring.place().equals(slot.slot())
                      && ring.incarnation() < slot.incarnation());
    }
    for (String note : said.notes()) {
      LOG.warn("Executor {} on {}: {}", said.executorId(), said.host(), note);
    }
  }

  private void acknowledged(Ring ring, long fsn) {
    ArrayDeque<Committed> rows = waiting.get(ring);
    if (rows == null) {
      return;
    }
    while (!rows.isEmpty() && rows.peekFirst().fsn() <= fsn) {
      rows.removeFirst();
    }
    if (rows.isEmpty()) {
      waiting.remove(ring);
    }
  }

  /** Rows that are committed and not known to be acknowledged. */
  synchronized long undeliveredRows() {
    long rows = 0;
    for (ArrayDeque<Committed> committed : waiting.values()) {
      rows += committed.stream().mapToLong(Committed::rows).sum();
    }
    return rows;
  }

  /** Such rows by host and slot, for people; empty without. */
  synchronized Map<String, Long> undeliveredByPlace() {
    Map<String, Long> places = new TreeMap<>();
    waiting.forEach(
        (ring, committed) ->
            places.merge(
                ring.host() + ":" + ring.place(),
                committed.stream().mapToLong(Committed::rows).sum(),
                Long::sum));
    return places;
  }

  /** One value of the table of metrics. */
  synchronized long value(SfMetric metric) {
    if (metric == SfMetric.UNDELIVERED_ROWS) {
      return undeliveredRows();
    }
    if (metric.kind() == SfMetric.Kind.COUNTER) {
      return counters[metric.ordinal()];
    }
    boolean highest = metric.unit().equals("milliseconds");
    long value = 0;
    for (long[] executor : gauges.values()) {
      long one = executor[metric.ordinal()];
      value = highest ? Math.max(value, one) : value + one;
    }
    return value;
  }

  /** What tasks of a batch write counted after Spark last asked them, by ordinal. */
  synchronized long[] unshown() {
    return unshown.clone();
  }

  /** {@code ok}, or what the executor that does worst said. */
  synchronized String health() {
    return health.entrySet().stream()
        .filter(entry -> !entry.getValue().equals("ok"))
        .findFirst()
        .map(entry -> entry.getValue() + " (executor " + entry.getKey().id() + ")")
        .orElse("ok");
  }

  /** Says at the end of a query what is still to be delivered, and from where. */
  void logEnd(String queryId) {
    Map<String, Long> places = undeliveredByPlace();
    if (!places.isEmpty()) {
      LOG.warn(
          "Query {} ended with {} rows in slots, not yet acknowledged as far as its tasks said: {}."
              + " Executors send them while they run; afterwards any run with the same sf_dir and"
              + " target does, or questdb-sf slots drain.",
          queryId,
          undeliveredRows(),
          places);
    }
  }

  /** Everything, as the query's progress shows it. */
  synchronized Map<String, String> metrics() {
    Map<String, String> shown = new LinkedHashMap<>();
    for (SfMetric metric : SfMetric.values()) {
      shown.put(metric.key(), Long.toString(value(metric)));
    }
    shown.put("health", health());
    Map<String, Long> places = undeliveredByPlace();
    if (!places.isEmpty()) {
      shown.put("undelivered_rows_by_slot", places.toString());
    }
    return shown;
  }
}
