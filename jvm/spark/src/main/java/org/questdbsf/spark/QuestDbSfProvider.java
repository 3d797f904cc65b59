package org.questdbsf.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What {@code format("questdb-sf")} finds. Writes only. */
public final class QuestDbSfProvider implements TableProvider, DataSourceRegister {

  /** The name for {@code format(..)}. */
  public static final String SHORT_NAME = "questdb-sf";

  @Override
  public String shortName() {
    return SHORT_NAME;
  }

  /** Spark asks for a schema only where it means to read. */
  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    throw new SfException(
        ErrorCode.SPARK_UNSUPPORTED,
        "Cannot read with format(\"questdb-sf\"), it writes only. Read from QuestDB with"
            + " format(\"jdbc\") over its PostgreSQL port.");
  }

  /** True: the rows' schema is the writer's, so {@link #getTable} can check it at start. */
  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new SfTable(schema, properties);
  }
}
