package org.questdbsf.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/** Notices the end of a query; the sink is not told of it. */
final class EndOfQuery extends StreamingQueryListener {
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
      SfQueries.end(queryId, ledger);
      session.streams().removeListener(this);
    }
  }
}
