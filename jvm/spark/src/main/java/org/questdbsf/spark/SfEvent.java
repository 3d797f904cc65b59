package org.questdbsf.spark;

import java.io.Serializable;
import java.time.Instant;

/**
 * Something that handlers on the driver are told of.
 *
 * @param kind what it is
 * @param at when
 * @param queryId Spark's id of the query
 * @param executorId Spark's id of the executor, or null where it is about the query
 * @param host the executor's host, or null
 * @param message one line for people
 * @param error the error, or null where {@code kind} is another
 */
public record SfEvent(
    Kind kind,
    Instant at,
    String queryId,
    String executorId,
    String host,
    String message,
    SfErrorEvent error)
    implements Serializable {

  /** Sorts of events. */
  public enum Kind {
    /** A query began to write; the message says what its {@code commit_on} survives. */
    STARTED,
    /** A refusal, the end of a lane, a row that fails its task. */
    ERROR,
    /** An executor's state is another; the message is as the metric {@code health}. */
    HEALTH,
    /** A table was suspended or resumed, as an executor saw it; the message says which. */
    TABLE,
    /** A query ended; the message says why, and what is still to be delivered. */
    ENDED
  }

  static SfEvent of(SfErrorEvent error) {
    return new SfEvent(
        Kind.ERROR,
        error.at(),
        error.queryId(),
        error.executorId(),
        error.host(),
        error.describe(),
        error);
  }

  /** Said by this executor. */
  static SfEvent ofTable(Instant at, String queryId, String message) {
    return new SfEvent(
        Kind.TABLE, at, queryId, TaskMetrics.executor(), TaskMetrics.host(), message, null);
  }

  static SfEvent ofQuery(Kind kind, String queryId, String message) {
    return new SfEvent(kind, Instant.now(), queryId, null, null, message, null);
  }

  /** The same as one JSON object, names in snake_case. */
  public String toJson() {
    JsonObject json = new JsonObject();
    json.put("kind", kind.name().toLowerCase(java.util.Locale.ROOT)).put("at", at.toString());
    json.put("query_id", queryId).put("executor", executorId).put("host", host);
    json.put("message", message);
    if (error != null) {
      JsonObject inner = new JsonObject();
      error.appendJson(inner);
      json.put("error", inner);
    }
    return json.toString();
  }
}
