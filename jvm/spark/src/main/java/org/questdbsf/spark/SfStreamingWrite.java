package org.questdbsf.spark;

import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One micro-batch on the driver. Its rows are where they belong when its tasks have committed. */
final class SfStreamingWrite implements StreamingWrite {
  private static final Logger LOG = LoggerFactory.getLogger(SfStreamingWrite.class);

  private final SfTable table;
  private final LaneSettings settings;
  private final StructType schema;

  SfStreamingWrite(SfTable table, LaneSettings settings, StructType schema) {
    this.table = table;
    this.settings = settings;
    this.schema = schema;
  }

  @Override
  public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
    return new SfWriterFactory(settings, schema);
  }

  /** At least once needs none, and with it a slow commit under speculation kills the job. */
  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  @Override
  public void commit(long epochId, WriterCommitMessage[] messages) {
    table.ledger().commit(messages);
  }

  /** Never throws. What tasks committed stays, and comes again when the query starts again. */
  @Override
  public void abort(long epochId, WriterCommitMessage[] messages) {
    table.ledger().commit(messages);
    LOG.info(
        "Batch {} to {} was given up; rows of its finished tasks stay, and are sent again when the"
            + " query starts again.",
        epochId,
        settings.options().target());
  }

  @Override
  public String toString() {
    return "SfStreamingWrite[" + table + "]";
  }
}
