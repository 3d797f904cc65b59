package org.questdbsf.spark;

import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;

/**
 * Builds a write. Takes appends, and updates where rows replace by key ({@link StreamRules}); an
 * overwrite, which a stream in complete mode is to Spark, is refused with a sentence.
 */
final class SfWriteBuilder implements SupportsTruncate, SupportsStreamingUpdateAsAppend {
  private final SfTable table;
  private final LogicalWriteInfo info;

  SfWriteBuilder(SfTable table, LogicalWriteInfo info) {
    this.table = table;
    this.info = info;
  }

  @Override
  public WriteBuilder truncate() {
    throw StreamRules.overwrite(table.options());
  }

  @Override
  public Write build() {
    return new SfWrite(table, info);
  }

  @Override
  public String toString() {
    return "SfWriteBuilder[" + table + "]";
  }
}
