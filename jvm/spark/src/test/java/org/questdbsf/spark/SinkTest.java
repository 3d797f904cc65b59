package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.questdbsf.testserver.TestServer;

/** Rows out of Spark into a real QuestDB. */
class SinkTest {
  private static final SparkSession SPARK = TestSpark.SESSION;
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Dataset<Row> rows(long count) {
    return SPARK
        .range(count)
        .selectExpr(
            "id",
            "cast(id % 7 as string) as sym",
            "concat('text ', id) as txt",
            "id / 4 as dbl",
            "timestamp_micros(1600000000000000 + id * 1000) as ts");
  }

  @Test
  void batchWriteArrivesExactly() {
    rows(10_000)
        .write()
        .format("questdb-sf")
        .mode("append")
        .option("addr", "127.0.0.1:" + server.port())
        .option("table", "batch_t")
        .option("create_table", true)
        .option("symbols", "sym")
        .option("timestamp", "ts")
        .save();
    server.awaitRows("batch_t", 10_000);
    List<Object[]> sums =
        server.query(
            "select count(), sum(id), sum(dbl), count_distinct(sym), max(ts) from batch_t");
    assertEquals(10_000L, sums.get(0)[0]);
    assertEquals(9999L * 5000, sums.get(0)[1]);
    assertEquals(7L, sums.get(0)[3]);
    assertEquals("2020-09-13T12:26:49.999000Z", sums.get(0)[4]);
  }

  @Test
  void streamArrivesExactly() throws Exception {
    String dir = TestSpark.temporary("in").toString();
    rows(3000).repartition(6).write().mode("overwrite").parquet(dir);
    StreamingQuery query =
        SPARK
            .readStream()
            .schema(rows(1).schema())
            .option("maxFilesPerTrigger", 2)
            .parquet(dir)
            .writeStream()
            .format("questdb-sf")
            .option("checkpointLocation", TestSpark.temporary("cp").toString())
            .option("addr", "127.0.0.1:" + server.port())
            .option("table", "stream_t")
            .option("create_table", "true")
            .option("timestamp", "ts")
            .trigger(Trigger.AvailableNow())
            .start();
    query.awaitTermination(60_000);
    server.awaitRows("stream_t", 3000);
    assertEquals(3000L, server.query("select count_distinct(id) from stream_t").get(0)[0]);
    assertEquals(3000L, server.query("select count() from stream_t").get(0)[0]);
  }
}
