package org.questdbsf.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.questdbsf.error.SfException;

/** Notices the end of a query, and why it came; the sink is not told of it. */
final class EndOfQuery extends StreamingQueryListener {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** How a stack trace tells of the sink's errors, and of any. */
  private static final String OURS = SfException.class.getName() + ": ";

  private static final String CAUSED_BY = "Caused by: ";

  private final SparkSession session;
  private final String queryId;
  private final DriverLedger ledger;

  EndOfQuery(SparkSession session, String queryId, DriverLedger ledger) {
    this.session = session;
    this.queryId = queryId;
    this.ledger = ledger;
  }

  void listen() {
    session.streams().addListener(this);
  }

  @Override
  public void onQueryStarted(QueryStartedEvent event) {}

  @Override
  public void onQueryProgress(QueryProgressEvent event) {}

  @Override
  public void onQueryTerminated(QueryTerminatedEvent event) {
    if (event.id().toString().equals(queryId)) {
      SfQueries.end(queryId, ledger, cause(event.json()));
      session.streams().removeListener(this);
    }
  }

  /**
   * One sentence from the event's JSON. (The event itself tells it as a class of Scala's library,
   * of which there are two.)
   */
  static String cause(String json) {
    try {
      String trace = JSON.readTree(json).path("exception").asText("");
      return trace.isBlank() || trace.equals("null")
          ? "stopped"
          : "failed: " + cause(trace.lines());
    } catch (JsonProcessingException e) {
      return "ended for a reason that Spark does not tell: " + e.getOriginalMessage();
    }
  }

  /** The sink's error where there is one, else the innermost cause. */
  private static String cause(Stream<String> trace) {
    List<String> causes =
        trace
            .filter(line -> !line.isBlank() && !line.startsWith("\t"))
            .map(line -> line.startsWith(CAUSED_BY) ? line.substring(CAUSED_BY.length()) : line)
            .toList();
    return causes.stream()
        .filter(line -> line.startsWith(OURS))
        .findFirst()
        .map(line -> line.substring(OURS.length()))
        .orElseGet(() -> causes.isEmpty() ? "" : causes.get(causes.size() - 1));
  }
}
