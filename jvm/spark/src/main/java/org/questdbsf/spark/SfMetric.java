package org.questdbsf.spark;

import java.util.Locale;

/**
 * Every counter and gauge of the sink, in one table. Names are snake_case and the same in the
 * query's progress, the SQL tab, the logs and Python.
 */
public enum SfMetric {
  ROWS_WRITTEN(
      "rows",
      Kind.COUNTER,
      Seen.BOTH,
      "Rows that tasks handed over, those that Spark sent again included."),
  BYTES_WRITTEN("bytes", Kind.COUNTER, Seen.BOTH, "Bytes of those rows as encoded."),
  FRAMES_WRITTEN("frames", Kind.COUNTER, Seen.BOTH, "Frames put into rings."),
  FRAMES_SENT("frames", Kind.COUNTER, Seen.BOTH, "Frames sent for the first time."),
  FRAMES_ACKED("frames", Kind.COUNTER, Seen.BOTH, "Frames that the server acknowledged."),
  FRAMES_REPLAYED("frames", Kind.COUNTER, Seen.BOTH, "Frames sent again after a reconnect."),
  FRAMES_MISSING(
      "frames",
      Kind.COUNTER,
      Seen.PROGRESS,
      "Frames that slots lacked when they were opened (a power cut, another client): nobody knows"
          + " whether they arrived; an event names them."),
  ACKS_REJECTED(
      "acknowledgements",
      Kind.COUNTER,
      Seen.BOTH,
      "Acknowledgements that did not account for their rows (a table was dropped, renamed or made"
          + " anew); the frames were sent again through a new connection."),
  RECONNECT_ATTEMPTS(
      "attempts",
      Kind.COUNTER,
      Seen.BOTH,
      "Attempts to connect again, failed ones included: all but a lane's first, and those that only"
          + " begin a symbol dictionary anew."),
  RECONNECTS_SUCCEEDED(
      "connections",
      Kind.COUNTER,
      Seen.BOTH,
      "Connections made after one was lost; not those that only begin a symbol dictionary anew."),
  SERVER_ERRORS("errors", Kind.COUNTER, Seen.BOTH, "Frames that the server refused."),
  ERROR_NOTIFICATIONS_DELIVERED(
      "notifications",
      Kind.COUNTER,
      Seen.PROGRESS,
      "Errors given to handlers on the driver, or to its log where there is no handler."),
  ERROR_NOTIFICATIONS_DROPPED(
      "notifications",
      Kind.COUNTER,
      Seen.PROGRESS,
      "Errors that a full queue on the way to a handler lost."),
  BACKPRESSURE_STALLS(
      "stalls", Kind.COUNTER, Seen.BOTH, "Times that a full ring made a task wait."),
  ROWS_DROPPED(
      "rows", Kind.COUNTER, Seen.BOTH, "Rows that went to dead_letter_dir instead of the table."),
  UNACKED_FRAMES("frames", Kind.GAUGE, Seen.PROGRESS, "Frames that wait for acknowledgement."),
  UNACKED_BYTES(
      "bytes", Kind.GAUGE, Seen.PROGRESS, "Bytes of frames that wait for acknowledgement."),
  OLDEST_UNACKED_MILLIS(
      "milliseconds", Kind.GAUGE, Seen.PROGRESS, "Age of the oldest frame that waits."),
  UNDELIVERED_ROWS(
      "rows",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Rows committed with commit_on=store and not yet acknowledged, as far as tasks have said."),
  FAILED_SLOTS(
      "slots",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Slots that were given up and wait for an operator (.failed)."),
  STRANDED_SLOTS(
      "slots",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Slots with rows for another server, or that do not say for which."),
  SUSPENDED_TABLES(
      "tables",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Suspended tables: they acknowledge rows but do not show them until ALTER TABLE ... RESUME"
          + " WAL; as of the last look, made while rows flow."),
  DRAINERS_ACTIVE("drainers", Kind.GAUGE, Seen.PROGRESS, "Adopted slots that are being sent."),
  DRAINERS_SUCCEEDED("drainers", Kind.COUNTER, Seen.PROGRESS, "Adopted slots sent to the end."),
  DRAINERS_FAILED("drainers", Kind.COUNTER, Seen.PROGRESS, "Adopted slots that were given up."),
  ACK_LATENCY_P50_MILLIS(
      "milliseconds",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Time within which half of the frames were acknowledged."),
  ACK_LATENCY_P99_MILLIS(
      "milliseconds",
      Kind.GAUGE,
      Seen.PROGRESS,
      "Time within which 99 of 100 frames were acknowledged."),
  ACK_LATENCY_MAX_MILLIS(
      "milliseconds", Kind.GAUGE, Seen.PROGRESS, "Time within which every frame was acknowledged.");

  /** Counters only grow within a query run; gauges say how it is now. */
  public enum Kind {
    COUNTER,
    GAUGE
  }

  /** Where it shows: the query's progress, or that and the SQL tab (and its REST API). */
  public enum Seen {
    PROGRESS,
    BOTH
  }

  private final String key = name().toLowerCase(Locale.ROOT);
  private final String unit;
  private final Kind kind;
  private final Seen seen;
  private final String doc;

  SfMetric(String unit, Kind kind, Seen seen, String doc) {
    this.unit = unit;
    this.kind = kind;
    this.seen = seen;
    this.doc = doc;
  }

  /** The name as users read it. */
  public String key() {
    return key;
  }

  public String unit() {
    return unit;
  }

  public Kind kind() {
    return kind;
  }

  /** Whether of several values the highest tells; others are added up. */
  boolean isHighest() {
    return unit.equals("milliseconds") || this == SUSPENDED_TABLES;
  }

  /** Whether all executors of a host count the same things, those in {@code sf_dir}. */
  boolean isOfHost() {
    return this == FAILED_SLOTS || this == STRANDED_SLOTS;
  }

  public Seen seen() {
    return seen;
  }

  /** One sentence. */
  public String doc() {
    return doc;
  }
}
