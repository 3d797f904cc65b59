package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.testserver.NackRule;
import org.questdbsf.testserver.TestServer;

/** Rows out of Spark into a real QuestDB, and rows that do not get there. */
class SinkTest {
  private static final SparkSession SPARK = TestSpark.SESSION;
  private static final TestServer SERVER = TestSpark.SERVER;

  @AfterEach
  void healthy() {
    SERVER.script().reset();
  }

  @Test
  void batchWriteArrivesExactly() {
    TestSpark.batch(TestSpark.rows(10_000), SERVER.port(), "batch_t")
        .option("create_table", true)
        .option("symbols", "sym")
        .save();
    SERVER.awaitRows("batch_t", 10_000);
    Object[] sums =
        SERVER
            .query("select count(), sum(id), sum(dbl), count_distinct(sym), max(ts) from batch_t")
            .get(0);
    assertEquals(10_000L, sums[0]);
    assertEquals(9999L * 5000, sums[1]);
    assertEquals(7L, sums[3]);
    assertEquals("2020-09-13T12:26:49.999000Z", sums[4]);
  }

  @Test
  void streamArrivesExactly() throws Exception {
    TestSpark.create("stream_t", "");
    StreamingQuery query =
        TestSpark.sink(TestSpark.stream(3000, 6, 2), SERVER.port(), "stream_t").start();
    assertTrue(query.awaitTermination(60_000));
    SERVER.awaitRows("stream_t", 3000);
    TestSpark.awaitIds("stream_t", 3000);
    assertEquals(3000, TestSpark.number("select count() from stream_t"));
    Map<String, String> metrics = query.lastProgress().sink().metrics();
    assertEquals("3000", metrics.get("rows_written"));
    assertEquals(metrics.get("frames_written"), metrics.get("frames_acked"));
    assertEquals("ok", metrics.get("health"));
    assertEquals("0", metrics.get("undelivered_rows"));
    assertTrue(query.lastProgress().sink().description().contains("stream_t"));
    for (SfMetric metric : SfMetric.values()) {
      assertTrue(metrics.containsKey(metric.key()), metric.key());
    }
  }

  @Test
  void aColumnNamesTheTable() {
    for (int i = 0; i < 3; i++) {
      TestSpark.create("by_col_" + i, "");
    }
    Dataset<Row> rows = TestSpark.rows(999).selectExpr("*", "concat('by_col_', id % 3) as target");
    rows.write()
        .format("questdb-sf")
        .mode("append")
        .option("addr", "127.0.0.1:" + SERVER.port())
        .option("table_column", "target")
        .option("timestamp", "ts")
        .option("frame_rows", 100)
        .save();
    for (int i = 0; i < 3; i++) {
      SERVER.awaitRows("by_col_" + i, 333);
      assertEquals(333, TestSpark.number("select count() from by_col_" + i));
      int n = i;
      assertEquals(
          0, TestSpark.number("select count() from by_col_" + i + " where id % 3 != " + n));
    }
  }

  /** A failed attempt's frames may be in the table; those it did not finish never go out later. */
  @Test
  void aFailedTaskIsRetried() throws Exception {
    TestSpark.create("retry_t", "");
    SPARK
        .udf()
        .register(
            "fail_once",
            (UDF1<Long, Long>)
                id -> {
                  if (id == 700 && TaskContext.get().attemptNumber() == 0) {
                    throw new IllegalStateException("planned failure");
                  }
                  return id;
                },
            DataTypes.LongType);
    Dataset<Row> rows =
        TestSpark.rows(1000).selectExpr("fail_once(id) as id", "sym", "txt", "dbl", "ts");
    TestSpark.batch(rows, SERVER.port(), "retry_t").option("frame_rows", 50).save();
    TestSpark.awaitIds("retry_t", 1000);
    long count = TestSpark.number("select count() from retry_t");
    assertTrue(count >= 1000 && count <= 1250, "rows: " + count);
  }

  @Test
  void theServersWordsReachTheCaller() {
    TestSpark.create("nack_t", "");
    SERVER.script().nack(NackRule.always(0x03, "column 'dbl' is full of bees"));
    Exception thrown =
        assertThrows(
            Exception.class,
            () ->
                TestSpark.batch(TestSpark.rows(100), SERVER.port(), "nack_t")
                    .option("max_lanes", 1)
                    .save());
    SfException error = Errors.within(thrown);
    assertEquals(ErrorCode.SERVER_REJECTED, error.code(), error.getMessage());
    Errors.says(error.getMessage(), "full of bees", "nack_t", "rows 1 to 50", "SCHEMA_MISMATCH");
    Errors.says(thrown.getMessage(), "full of bees");
  }

  @Test
  void refusedFramesAreKeptAsDeadLetters() throws Exception {
    TestSpark.create("drop_t", "");
    Path dir = TestSpark.temporary("dead");
    SERVER.script().nack(NackRule.once(0x03, "not this one"));
    TestSpark.batch(TestSpark.rows(100).coalesce(1), SERVER.port(), "drop_t")
        .option("on_schema_error", "drop")
        .option("dead_letter_dir", dir.toUri().toString())
        .option("frame_rows", 50)
        .save();
    SERVER.awaitRows("drop_t", 50);
    assertEquals(50, TestSpark.number("select count() from drop_t"));
    assertEquals(1, files(dir, ".qwp").size());
    Errors.says(Files.readString(files(dir, ".txt").get(0)), "not this one", "drop_t");
  }

  @Test
  void rowsThatCannotBeEncodedAreKeptAsDeadLetters() throws Exception {
    TestSpark.create("row_t", "");
    Path dir = TestSpark.temporary("dead");
    Dataset<Row> rows =
        TestSpark.rows(1000)
            .selectExpr("if(id = 500, -9223372036854775808L, id) as id", "sym", "txt", "dbl", "ts");
    TestSpark.batch(rows, SERVER.port(), "row_t")
        .option("on_row_error", "dead_letter")
        .option("dead_letter_dir", dir.toString())
        .save();
    SERVER.awaitRows("row_t", 999);
    assertEquals(999, TestSpark.number("select count() from row_t"));
    List<Path> kept = files(dir, ".jsonl");
    assertEquals(1, kept.size());
    Errors.says(
        Files.readString(kept.get(0)),
        "\"txt\":\"text 500\"",
        "\"row_number\":1,",
        "sentinel_values",
        "'id'");
    SfException error =
        Errors.within(
            assertThrows(
                Exception.class, () -> TestSpark.batch(rows, SERVER.port(), "row_t").save()));
    Errors.says(error.getMessage(), "row 1 of partition 1", "'id'", "-9223372036854775808");
    SfException tooMany =
        Errors.within(
            assertThrows(
                Exception.class,
                () ->
                    TestSpark.batch(
                            rows.selectExpr("-9223372036854775808L as id", "ts"),
                            SERVER.port(),
                            "row_t")
                        .option("on_row_error", "dead_letter")
                        .option("dead_letter_dir", dir.toString())
                        .option("max_dead_letter_rows", 10)
                        .save()));
    Errors.says(tooMany.getMessage(), "max_dead_letter_rows=10");
    TestSpark.await("aborted tasks take their files away", () -> files(dir, "").size() == 1);
  }

  private static List<Path> files(Path dir, String ending) {
    try (Stream<Path> all = Files.list(dir)) {
      return all.filter(
              file -> file.toString().endsWith(ending) && !file.toString().endsWith(".crc"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void rowsThatTheTtlWouldDiscardAreRefused() {
    TestSpark.create("ttl_t", "TTL 2 DAYS");
    SERVER.sql("INSERT INTO ttl_t (id, ts) VALUES (1, '2020-09-20T00:00:00.000000Z')");
    SERVER.awaitRows("ttl_t", 1);
    SfException error =
        Errors.within(
            assertThrows(
                Exception.class,
                () -> TestSpark.batch(TestSpark.rows(10), SERVER.port(), "ttl_t").save()));
    assertEquals(ErrorCode.VALUE_INVALID, error.code(), error.getMessage());
    Errors.says(error.getMessage(), "TTL", "2020-09-13T", "2020-09-18T00:00:00Z", "ttl_t");
    Dataset<Row> young =
        TestSpark.rows(10)
            .selectExpr("id", "sym", "txt", "dbl", "ts + interval 6 days 12 hours as ts");
    TestSpark.batch(young, SERVER.port(), "ttl_t").save();
    SERVER.awaitRows("ttl_t", 11);
  }

  @Test
  void anUpdatingStreamIsAnUpsert() throws Exception {
    SERVER.sql(
        "CREATE TABLE upsert_t (sym SYMBOL, n LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY"
            + " WAL DEDUP UPSERT KEYS(ts, sym)");
    Dataset<Row> counts =
        TestSpark.stream(700, 3, 1)
            .groupBy("sym")
            .count()
            .selectExpr("sym", "count as n", "timestamp_micros(1600000000000000) as ts");
    StreamingQuery query =
        TestSpark.sink(counts, SERVER.port(), "upsert_t")
            .outputMode("update")
            .option("update_keys", "ts,sym")
            .start();
    assertTrue(query.awaitTermination(60_000));
    TestSpark.await(
        "the newest counts", () -> TestSpark.number("select sum(n) from upsert_t") == 700);
    assertEquals(7, TestSpark.number("select count() from upsert_t"));
  }

  @Test
  void manySymbolsGoOverSeveralLanes() throws Exception {
    TestSpark.create("sym_t", "");
    Dataset<Row> rows =
        TestSpark.rows(5000)
            .selectExpr("id", "concat('symbol number ', id) as sym", "txt", "dbl", "ts");
    Path dir = TestSpark.temporary("sf");
    TestSpark.batch(rows, SERVER.port(), "sym_t")
        .option("symbols", "sym")
        .option("commit_on", "store")
        .option("sf_dir", dir.toString())
        .option("sf_min_free_bytes", 0)
        .option("sender_id", "sym")
        .option("max_symbols_per_slot", 1000)
        .save();
    TestSpark.awaitIds("sym_t", 5000);
    assertEquals(5000, TestSpark.number("select count_distinct(sym) from sym_t"));
  }
}
