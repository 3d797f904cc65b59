package org.questdbsf.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.types.StructType;

/** Makes the writers of tasks; travels to the executors. */
final class SfWriterFactory implements DataWriterFactory, StreamingDataWriterFactory {
  private static final long serialVersionUID = 1L;

  /** Epoch of a batch write. */
  static final long NO_EPOCH = -1;

  private final LaneSettings settings;
  private final StructType schema;

  SfWriterFactory(LaneSettings settings, StructType schema) {
    this.settings = settings;
    this.schema = schema;
  }

  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new SfDataWriter(settings, schema, partitionId, taskId, NO_EPOCH);
  }

  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId, long epochId) {
    return new SfDataWriter(settings, schema, partitionId, taskId, epochId);
  }

  @Override
  public String toString() {
    return "SfWriterFactory[" + settings + "]";
  }
}
