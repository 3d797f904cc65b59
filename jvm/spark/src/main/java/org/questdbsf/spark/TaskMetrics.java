package org.questdbsf.spark;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.questdbsf.sender.SenderState;

/** What one task reports: to the SQL tab while it writes, and to the driver when it commits. */
final class TaskMetrics {
  private final LanePool pool;
  private final long[] claimed = new long[SfMetric.values().length];

  TaskMetrics(LanePool pool) {
    this.pool = pool;
  }

  /** The SQL tab's values; what the pool counted meanwhile goes to the task that asks first. */
  CustomTaskMetric[] values(long rows, long bytes, long dropped) {
    long[] growth = pool.news().shown().claim(pool.totals());
    for (int i = 0; i < claimed.length; i++) {
      claimed[i] += growth[i];
    }
    List<CustomTaskMetric> values = new ArrayList<>();
    for (SfMetric metric : SfMetric.values()) {
      if (metric.seen() == SfMetric.Seen.BOTH) {
        values.add(
            SfCustomMetrics.value(
                metric,
                switch (metric) {
                  case ROWS_WRITTEN -> rows;
                  case BYTES_WRITTEN -> bytes;
                  case ROWS_DROPPED -> dropped + claimed[metric.ordinal()];
                  default -> claimed[metric.ordinal()];
                }));
      }
    }
    return values.toArray(new CustomTaskMetric[0]);
  }

  /** Spark forgets what this task reported: another task may claim it. */
  void abort() {
    pool.news().shown().giveBack(claimed);
    java.util.Arrays.fill(claimed, 0);
  }

  /** What a pool has to tell without a task. */
  static TaskReport report(LanePool pool) {
    return new TaskMetrics(pool).report(List.of(), 0, 0, 0);
  }

  /** What the driver is told. */
  TaskReport report(List<TaskReport.Part> parts, long rows, long bytes, long rowsDropped) {
    List<LaneReport> lanes = pool.reports();
    return new TaskReport(
        host(),
        executor(),
        List.copyOf(parts),
        rows,
        bytes,
        rowsDropped,
        lanes,
        pool.news().adopted(),
        pool.news().sent().claim(pool.totals()),
        pool.gauges(),
        health(pool.worst()),
        pool.news().takeEvents());
  }

  private static String health(SenderState state) {
    if (state == null || state.kind() == SenderState.Kind.OK) {
      return "ok";
    }
    StringBuilder text = new StringBuilder(state.kind().name().toLowerCase(java.util.Locale.ROOT));
    text.append(" since ").append(state.since());
    if (state.host() != null) {
      text.append(", host ").append(state.host());
    }
    if (state.attempts() > 0) {
      text.append(", ").append(state.attempts()).append(" attempts");
    }
    return state.cause() == null ? text.toString() : text + ": " + state.cause();
  }

  /** Spark's id of this executor, empty outside of Spark. */
  static String executor() {
    return SparkEnv.get() == null ? "" : SparkEnv.get().executorId();
  }

  /** The host as Spark knows it. */
  static String host() {
    if (SparkEnv.get() != null) {
      return SparkEnv.get().blockManager().blockManagerId().host();
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }
}
