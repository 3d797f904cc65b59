package org.questdbsf.spark;

import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** One write: a batch write, or one micro-batch of a stream. */
final class SfWrite implements Write {
  private final SfTable table;
  private final LogicalWriteInfo info;
  private SfBatchWrite batch;

  SfWrite(SfTable table, LogicalWriteInfo info) {
    this.table = table;
    this.info = info;
  }

  @Override
  public String description() {
    return table.toString();
  }

  @Override
  public BatchWrite toBatch() {
    if (batch == null) {
      batch = new SfBatchWrite(table, table.start(info, false), info.schema());
    }
    return batch;
  }

  @Override
  public StreamingWrite toStreaming() {
    return new SfStreamingWrite(table, table.start(info, true), info.schema());
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return SfCustomMetrics.all();
  }

  @Override
  public String toString() {
    return "SfWrite[" + table + "]";
  }
}
