package org.questdbsf.spark;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * One run of one query: Spark asks for a table once per run, and for a write once per micro-batch.
 * Options and schema are checked when it is made, so that what is wrong is said by {@code start()};
 * what needs a server or the query's mode is checked at the first write.
 */
public final class SfTable implements Table, SupportsWrite, ReportsSinkMetrics {
  private static final Set<TableCapability> CAPABILITIES =
      Set.of(
          TableCapability.BATCH_WRITE,
          TableCapability.STREAMING_WRITE,
          TableCapability.TRUNCATE,
          TableCapability.ACCEPT_ANY_SCHEMA);

  private final StructType schema;
  private final SfOptions options;
  private final DriverLedger ledger;
  private final SparkSession session;
  private LaneSettings started;

  SfTable(StructType schema, Map<String, String> properties) {
    this.schema = schema;
    this.options = SfOptions.of(properties);
    SchemaCheck.plan(options, schema, null);
    this.ledger = new DriverLedger(options.commitOn().onDisk());
    this.session = SparkSession.active();
  }

  @Override
  public String name() {
    return QuestDbSfProvider.SHORT_NAME;
  }

  @Override
  @SuppressWarnings("deprecation")
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return CAPABILITIES;
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new SfWriteBuilder(this, info);
  }

  /** Checks everything at the first call; later micro-batches use what was found then. */
  synchronized LaneSettings start(LogicalWriteInfo info, boolean streaming) {
    if (started == null) {
      try {
        started = new StartCheck(options, info.schema(), streaming, info.queryId()).run();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        InterruptedIOException wrapped = new InterruptedIOException("stopped while it started");
        wrapped.initCause(e);
        throw new UncheckedIOException(wrapped); // what Spark takes for a stop
      }
      ledger.isOf(info.queryId());
      SfQueries.begin(info.queryId(), this);
      GoneExecutors.listen(session.sparkContext());
      if (streaming) {
        new EndOfQuery(session, info.queryId(), ledger).listen();
      }
    }
    return started;
  }

  SfOptions options() {
    return options;
  }

  DriverLedger ledger() {
    return ledger;
  }

  /**
   * The metrics of this run, in {@code StreamingQueryProgress.sink.metrics}. In local mode they are
   * those of this moment; otherwise those that the last tasks brought.
   */
  @Override
  public Map<String, String> metrics() {
    refresh();
    Map<String, String> metrics = new LinkedHashMap<>(ledger.metrics());
    metrics.put("commit_on", options.commitOn().word());
    return metrics;
  }

  /** What {@link SfQueries#counters} shows of this run. */
  String json() {
    refresh();
    return ledger.json().put("commit_on", options.commitOn().word()).toString();
  }

  /** Lanes that live in this JVM need no task to bring their news. */
  private synchronized void refresh() {
    LanePool pool = started == null ? null : LanePools.present(started);
    if (pool != null) {
      ledger.take(TaskMetrics.report(pool));
    }
  }

  /** Shown as the sink's description in the query's progress. */
  @Override
  public String toString() {
    return "questdb-sf[" + options.target() + ", commit_on=" + options.commitOn().word() + "]";
  }
}
