package org.questdbsf.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/** One run of one query. */
public final class SfTable implements Table, SupportsWrite, ReportsSinkMetrics {
  private static final Set<TableCapability> CAPABILITIES =
      Set.of(
          TableCapability.BATCH_WRITE,
          TableCapability.STREAMING_WRITE,
          TableCapability.TRUNCATE,
          TableCapability.ACCEPT_ANY_SCHEMA);

  private final StructType schema;

  SfTable(StructType schema, Map<String, String> properties) {
    this.schema = schema;
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
    throw new UnsupportedOperationException("not yet");
  }

  @Override
  public Map<String, String> metrics() {
    return Map.of();
  }
}
