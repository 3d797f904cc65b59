package org.questdbsf.spark;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.questdbsf.sender.SenderState;
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

  /** What is known of one executor. */
  private static final class Told {
    final long[] counters = new long[SfMetric.values().length];
    long[] gauges = new long[SfMetric.values().length];
    String health = OK;
    long at;

    long value(SfMetric metric, long now) {
      if (metric == SfMetric.SUSPENDED_TABLES && now - at > SEEN_NANOS) {
        return 0; // an executor that is gone would say it for ever
      }
      return metric.kind() == SfMetric.Kind.COUNTER
          ? counters[metric.ordinal()]
          : gauges[metric.ordinal()];
    }
  }

  private static final String OK = "ok";

  /** For how long an executor's word on suspended tables holds. */
  private static final long SEEN_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Rings whose acknowledgements are remembered: news may be quicker than the commit. */
  private static final int MAX_RINGS = 4096;

  private final boolean onDisk;
  private final LongSupplier clock;
  private final long[] counters = new long[SfMetric.values().length];
  private final Map<Executor, Told> executors =
      new TreeMap<>(Comparator.comparing(Executor::host).thenComparing(Executor::id));
  private final Map<Ring, ArrayDeque<Committed>> waiting = new LinkedHashMap<>();
  private final Map<Ring, Long> acked =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Ring, Long> eldest) {
          return size() > MAX_RINGS;
        }
      };

  private final LongAdder notificationsDelivered = new LongAdder();
  private final LongAdder notificationsDropped = new LongAdder();

  private String queryId;

  DriverLedger(boolean onDisk) {
    this(onDisk, System::nanoTime);
  }

  /**
   * A ledger of nothing yet.
   *
   * @param clock as {@code System.nanoTime()}
   */
  DriverLedger(boolean onDisk, LongSupplier clock) {
    this.onDisk = onDisk;
    this.clock = clock;
  }

  /** Says which query it is of; before anything is committed. */
  synchronized void isOf(String query) {
    this.queryId = query;
  }

  /** Takes over what the tasks of one batch said; entries may be null. */
  synchronized void commit(WriterCommitMessage[] messages) {
    for (WriterCommitMessage message : messages) {
      if (message instanceof SfCommitMessage said) {
        take(said.report());
      }
    }
  }

  /** Takes over what a task or an executor said. */
  synchronized void take(TaskReport said) {
    Executor executor = new Executor(said.host(), said.executorId());
    Told told = executors.computeIfAbsent(executor, key -> new Told());
    count(counters, said);
    count(told.counters, said);
    told.gauges = said.gauges();
    told.at = clock.getAsLong();
    changeHealth(executor, told, said.health());
    if (onDisk) {
      said.parts().forEach(part -> await(said.host(), part));
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
    said.events().forEach(this::tell);
  }

  private void await(String host, TaskReport.Part part) {
    Ring ring = new Ring(host, part.place(), part.incarnation());
    if (part.lastFsn() > acked.getOrDefault(ring, -1L)) {
      waiting
          .computeIfAbsent(ring, key -> new ArrayDeque<>())
          .addLast(new Committed(part.lastFsn(), part.rows()));
    }
  }

  private static void count(long[] counters, TaskReport said) {
    for (int i = 0; i < counters.length; i++) {
      counters[i] += said.counted()[i];
    }
    counters[SfMetric.ROWS_WRITTEN.ordinal()] += said.rows();
    counters[SfMetric.BYTES_WRITTEN.ordinal()] += said.bytes();
    counters[SfMetric.ROWS_DROPPED.ordinal()] += said.rowsDropped();
  }

  private void changeHealth(Executor executor, Told told, String health) {
    boolean other = !health.split(" ", 2)[0].equals(told.health.split(" ", 2)[0]);
    told.health = health;
    if (other) {
      SfHandlers.fire(
          new SfEvent(
              SfEvent.Kind.HEALTH,
              Instant.now(),
              queryId,
              executor.id(),
              executor.host(),
              health,
              null),
          SfRegistration.Outcome.NONE);
    }
  }

  private void tell(SfEvent event) {
    if (event.error() == null) {
      SfHandlers.fire(event, SfRegistration.Outcome.NONE);
      return;
    }
    LOG.warn("Executor {} on {}: {}", event.executorId(), event.host(), event.message());
    if (SfHandlers.fire(event, this::notified) == 0) {
      notified(1, 0);
    }
  }

  /** Called with the lock of any ledger held, so it takes none. */
  private void notified(int delivered, int dropped) {
    notificationsDelivered.add(delivered);
    notificationsDropped.add(dropped);
  }

  private void acknowledged(Ring ring, long fsn) {
    if (onDisk) {
      acked.merge(ring, fsn, Math::max);
    }
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
      long onDriver =
          switch (metric) {
            case ERROR_NOTIFICATIONS_DELIVERED -> notificationsDelivered.sum();
            case ERROR_NOTIFICATIONS_DROPPED -> notificationsDropped.sum();
            default -> 0;
          };
      return counters[metric.ordinal()] + onDriver;
    }
    long now = clock.getAsLong();
    if (metric.isOfHost()) {
      Map<String, Long> byHost = new TreeMap<>();
      executors.forEach(
          (executor, told) -> byHost.merge(executor.host(), told.value(metric, now), Math::max));
      return byHost.values().stream().mapToLong(Long::longValue).sum();
    }
    long value = 0;
    for (Told executor : executors.values()) {
      long one = executor.value(metric, now);
      value = metric.isHighest() ? Math.max(value, one) : value + one;
    }
    return value;
  }

  /** {@code ok}, or what the executor that does worst said. */
  synchronized String health() {
    return executors.entrySet().stream()
        .filter(entry -> !entry.getValue().health.equals(OK))
        .max(Comparator.comparing(entry -> kind(entry.getValue().health)))
        .map(entry -> entry.getValue().health + " (executor " + entry.getKey().id() + ")")
        .orElse(OK);
  }

  /** The state that a health begins with. */
  private static SenderState.Kind kind(String health) {
    return SenderState.Kind.valueOf(health.split(" ", 2)[0].toUpperCase(Locale.ROOT));
  }

  /** An executor is gone: what it counted stays; what holds now of it does not. */
  synchronized void gone(String executorId) {
    executors.forEach(
        (executor, told) -> {
          if (executor.id().equals(executorId)) {
            told.gauges = new long[told.gauges.length];
            told.health = OK;
          }
        });
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

  /** Everything, in total and by executor. */
  synchronized JsonObject json() {
    JsonObject total = new JsonObject();
    for (SfMetric metric : SfMetric.values()) {
      total.put(metric.key(), value(metric));
    }
    JsonObject each = new JsonObject();
    executors.forEach(
        (executor, told) -> {
          JsonObject one = new JsonObject().put("host", executor.host());
          one.put("health", told.health);
          for (SfMetric metric : SfMetric.values()) {
            if (metric != SfMetric.UNDELIVERED_ROWS) {
              one.put(metric.key(), told.value(metric, clock.getAsLong()));
            }
          }
          each.put(executor.id(), one);
        });
    JsonObject places = new JsonObject();
    undeliveredByPlace().forEach(places::put);
    JsonObject json = new JsonObject().put("total", total).put("executors", each);
    return json.put("health", health()).put("undelivered_rows_by_slot", places);
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
