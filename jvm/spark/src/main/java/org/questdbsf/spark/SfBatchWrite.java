package org.questdbsf.spark;

import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One batch write on the driver. */
final class SfBatchWrite implements BatchWrite {
  private static final Logger LOG = LoggerFactory.getLogger(SfBatchWrite.class);

  private final SfTable table;
  private final LaneSettings settings;
  private final StructType schema;

  SfBatchWrite(SfTable table, LaneSettings settings, StructType schema) {
    this.table = table;
    this.settings = settings;
    this.schema = schema;
  }

  @Override
  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    return new SfWriterFactory(settings, schema);
  }

  /** At least once needs none, and with it a slow commit under speculation kills the job. */
  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    table.ledger().commit(messages);
    SfQueries.end(settings.queryId(), table.ledger(), "committed");
  }

  /** Never throws. Says what stays: a batch write is not undone. */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    table.ledger().commit(messages);
    long rows = table.ledger().value(SfMetric.ROWS_WRITTEN);
    LOG.warn(
        "The batch write to {} failed. {} rows of tasks that finished are {}, and perhaps some of"
            + " those that did not; a second run writes them again, which only DEDUP UPSERT KEYS"
            + " undo.",
        settings.options().target(),
        rows,
        settings.options().commitOn().onDisk() ? "in slots or in the table" : "in the table");
    SfQueries.end(settings.queryId(), table.ledger(), "failed; Spark tells why");
  }

  @Override
  public String toString() {
    return "SfBatchWrite[" + table + "]";
  }
}
