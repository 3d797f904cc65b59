package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queries of this driver that write through the sink: those that run, and the last that ended.
 * What executors tell between commits finds its ledger here. Thread-safe.
 */
public final class SfQueries {
  private static final Logger LOG = LoggerFactory.getLogger(SfQueries.class);

  /** Queries that ended and can still be asked. */
  private static final int MAX_ENDED = 256;

  private static final Map<String, SfTable> TABLES = new LinkedHashMap<>();

  /** Those of them that ended, oldest first. */
  private static final Set<String> ENDED = new LinkedHashSet<>();

  /** Counters of runs that are no longer in the map, by ordinal of {@link SfMetric}. */
  private static final long[] PAST = new long[SfMetric.values().length];

  private SfQueries() {}

  /** A run begins; one before it with the same id is over. */
  static void begin(String queryId, SfTable table) {
    synchronized (TABLES) {
      forget(queryId);
      TABLES.put(queryId, table);
    }
    SfHandlers.fire(
        SfEvent.ofQuery(
            SfEvent.Kind.STARTED, queryId, table + ": " + table.options().commitOn().describe()),
        SfRegistration.Outcome.NONE);
  }

  private static void forget(String queryId) {
    ENDED.remove(queryId);
    SfTable table = TABLES.remove(queryId);
    for (SfMetric metric : SfMetric.values()) {
      if (table != null && metric.kind() == SfMetric.Kind.COUNTER) {
        PAST[metric.ordinal()] += table.ledger().value(metric);
      }
    }
  }

  /**
   * A run ended; it stays to be asked until others need its place.
   *
   * @param cause why, in a few words
   */
  static void end(String queryId, DriverLedger ledger, String cause) {
    ledger.logEnd(queryId);
    synchronized (TABLES) {
      if (TABLES.containsKey(queryId) && ENDED.add(queryId) && ENDED.size() > MAX_ENDED) {
        forget(ENDED.iterator().next());
      }
    }
    long rows = ledger.undeliveredRows();
    SfHandlers.fire(
        SfEvent.ofQuery(
            SfEvent.Kind.ENDED,
            queryId,
            rows == 0
                ? cause
                : cause + "; " + rows + " rows to be delivered: " + ledger.undeliveredByPlace()),
        SfRegistration.Outcome.NONE);
  }

  /** An executor is gone. */
  static void gone(String executorId) {
    List<SfTable> tables;
    synchronized (TABLES) {
      tables = new ArrayList<>(TABLES.values());
    }
    tables.forEach(table -> table.ledger().gone(executorId));
  }

  /** Hands an executor's news to the ledger of its query. */
  static void receive(SfNews news) {
    SfTable table;
    synchronized (TABLES) {
      table = TABLES.get(news.queryId());
    }
    if (table != null) {
      table.ledger().take(news.report());
      return;
    }
    LOG.debug("News of query {}, which is not known here.", news.queryId());
    for (SfEvent event : news.report().events()) {
      if (event.error() != null) {
        LOG.warn("Executor {} on {}: {}", event.executorId(), event.host(), event.message());
      }
      SfHandlers.fire(event, SfRegistration.Outcome.NONE);
    }
  }

  /**
   * Counters and gauges of a query as of now, one JSON object: {@code total}, {@code executors} by
   * id, {@code health}, {@code commit_on}; null for a query that is not known here.
   */
  public static String counters(String queryId) {
    SfTable table;
    synchronized (TABLES) {
      table = TABLES.get(queryId);
    }
    return table == null ? null : table.json();
  }

  /** One value over all queries of this driver. */
  static long value(SfMetric metric) {
    List<SfTable> tables;
    long value;
    synchronized (TABLES) {
      tables = new ArrayList<>(TABLES.values());
      value = PAST[metric.ordinal()];
    }
    boolean highest = metric.isHighest();
    for (SfTable table : tables) {
      long one = table.ledger().value(metric);
      value = highest ? Math.max(value, one) : value + one;
    }
    return value;
  }
}
