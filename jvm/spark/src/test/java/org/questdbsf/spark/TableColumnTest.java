package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;

/** What a task keeps of the rows of many tables. */
class TableColumnTest {
  private static final int TABLES = 40;

  /**
   * Two rows a table, of 0.4 MB each: no block fills a frame, and all of them together are 32 MB.
   * Published at the end only, they would be one frame a table.
   */
  @Test
  void largeRowsOfManyTablesArePublishedBeforeTheyFillTheMemory() throws Exception {
    Dataset<Row> rows =
        TestSpark.stream(2 * TABLES, 1, 1)
            .selectExpr(
                "id",
                "ts",
                "concat('large_', id % " + TABLES + ") target",
                "repeat('x', 400000) big");
    StreamingQuery query =
        rows.writeStream()
            .format("questdb-sf")
            .option("checkpointLocation", TestSpark.temporary("cp").toString())
            .option("addr", "127.0.0.1:" + TestSpark.SERVER.port())
            .option("table_column", "target")
            .option("timestamp", "ts")
            .trigger(Trigger.AvailableNow())
            .option("create_table", true)
            .start();
    assertTrue(query.awaitTermination(120_000));
    var metrics = query.lastProgress().sink().metrics();
    assertEquals(Integer.toString(2 * TABLES), metrics.get("rows_written"));
    assertTrue(Integer.parseInt(metrics.get("frames_written")) > TABLES, metrics::toString);
  }
}
