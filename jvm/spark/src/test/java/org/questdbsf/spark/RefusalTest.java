package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.testserver.TestServer;
import org.questdbsf.testserver.TestServerOptions;

/** Bad input: each an error before any row is sent, that says what, where and what to do. */
class RefusalTest {
  private static final SparkSession SPARK = TestSpark.SESSION;
  private static final TestServer SERVER = TestSpark.SERVER;

  private static Dataset<Row> ticks() {
    return SPARK
        .readStream()
        .format("rate")
        .option("rowsPerSecond", 1)
        .load()
        .selectExpr("value as id", "timestamp as ts", "cast(value as string) as sym");
  }

  private static DataStreamWriter<Row> sink() {
    return TestSpark.sink(ticks(), SERVER.port(), "refused_t").trigger(Trigger.ProcessingTime(0));
  }

  /** Refused by {@code start()} itself. */
  private static void atStart(ErrorCode code, DataStreamWriter<Row> writer, String... words) {
    Errors.of(
        code,
        () -> {
          StreamingQuery query = writer.start();
          query.stop();
        },
        words);
  }

  /** Refused by the first batch, before a row. */
  private static void atFirstBatch(ErrorCode code, DataStreamWriter<Row> writer, String... words)
      throws Exception {
    StreamingQuery query = writer.start();
    try {
      StreamingQueryException thrown =
          assertThrows(StreamingQueryException.class, () -> query.awaitTermination(30_000));
      SfException error = Errors.within(thrown);
      assertEquals(code, error.code(), error.getMessage());
      Errors.says(error.getMessage(), words);
    } finally {
      query.stop();
    }
  }

  @Test
  void atTheStart() {
    long received = SERVER.counters().rowsReceived();
    atStart(ErrorCode.CONFIG_UNKNOWN_KEY, sink().option("tabel", "x"), "tabel", "table");
    atStart(
        ErrorCode.CONFIG_CONFLICT,
        sink().option("connect_string", "ws::addr=elsewhere:9000;"),
        "addr",
        "elsewhere");
    atStart(
        ErrorCode.CONFIG_INVALID_VALUE,
        sink().option("connect_string", "http::addr=h:9000;"),
        "http");
    atStart(ErrorCode.CONFIG_MISSING, sink().option("sf_dir", "/x"), "commit_on=store");
    atStart(ErrorCode.CONFIG_INVALID_VALUE, sink().option("symbols", "smy"), "smy", "'sym'");
    atStart(ErrorCode.TYPE_UNSUPPORTED, sink().option("symbols", "id"), "'id'");
    atStart(ErrorCode.NAME_INVALID, sink().option("table", "x".repeat(128)), "127");
    atStart(
        ErrorCode.TYPE_UNSUPPORTED,
        TestSpark.sink(
            ticks().selectExpr("struct(id, sym) as both", "ts"), SERVER.port(), "refused_t"),
        "'both'",
        "STRUCT");
    assertEquals(received, SERVER.counters().rowsReceived());
  }

  @Test
  void atTheFirstBatch() throws Exception {
    atFirstBatch(ErrorCode.TABLE_MISSING, sink(), "refused_t", "create_table");
    TestSpark.create("refused_u", "");
    atFirstBatch(
        ErrorCode.TABLE_MISMATCH,
        TestSpark.sink(ticks().selectExpr("sym as id", "ts"), SERVER.port(), "refused_u"),
        "'id'",
        "LONG",
        "STRING");
    atFirstBatch(
        ErrorCode.TABLE_MISMATCH,
        sink().option("table", "refused_u").option("require_dedup", "on"),
        "dedup");
    atFirstBatch(
        ErrorCode.CONFIG_INVALID_VALUE,
        sink()
            .option("commit_on", "store")
            .option("sf_dir", TestSpark.temporary("sf").toString())
            .option("sender_id", "../up"),
        "sender_id",
        "../up");
    atFirstBatch(
        ErrorCode.DURABLE_ACK_UNAVAILABLE,
        sink().option("table", "refused_u").option("commit_on", "durable"),
        "durable");
    StreamingQuery none =
        ticks()
            .writeStream()
            .format("questdb-sf")
            .option("addr", "h:1")
            .option("table", "t")
            .option("checkpointLocation", TestSpark.temporary("cp").toString())
            .start();
    Errors.says(
        assertThrows(StreamingQueryException.class, () -> none.awaitTermination(30_000))
            .getMessage(),
        "timestamp is not set",
        "server_timestamp");
  }

  @Test
  void modesAndTriggers() throws Exception {
    Dataset<Row> counts =
        ticks().groupBy("sym").count().selectExpr("sym", "count", "current_timestamp() as ts");
    atFirstBatch(
        ErrorCode.SPARK_UNSUPPORTED,
        TestSpark.sink(counts, SERVER.port(), "refused_t").outputMode("complete"),
        "append",
        "update_keys");
    atFirstBatch(
        ErrorCode.CONFIG_MISSING,
        TestSpark.sink(counts, SERVER.port(), "refused_t").outputMode("update"),
        "update_keys");
    atFirstBatch(
        ErrorCode.CONFIG_CONFLICT,
        TestSpark.sink(counts, SERVER.port(), "refused_t")
            .outputMode("update")
            .option("update_keys", "sym,ts")
            .option("commit_on", "store")
            .option("sf_dir", "/x"),
        "commit_on=store",
        "older value");
    atFirstBatch(ErrorCode.CONFIG_CONFLICT, sink().option("update_keys", "sym"), "update_keys");
    atStart(ErrorCode.SPARK_UNSUPPORTED, sink().trigger(Trigger.Continuous(1000)), "continuous");
    SfException overwrite =
        Errors.within(
            assertThrows(
                Exception.class,
                () ->
                    TestSpark.batch(TestSpark.rows(1), SERVER.port(), "refused_t")
                        .mode("overwrite")
                        .save()));
    assertEquals(ErrorCode.SPARK_UNSUPPORTED, overwrite.code());
    Errors.says(
        assertThrows(
                Exception.class, () -> SPARK.read().format("questdb-sf").option("x", "y").load())
            .getMessage(),
        "writes only");
  }

  @Test
  void wrongPassword() throws Exception {
    try (TestServer guarded =
        TestServer.start(TestServerOptions.defaults().withUser("ann", "right"))) {
      String addr = "127.0.0.1:" + guarded.port();
      SfException error =
          Errors.within(
              assertThrows(
                  Exception.class,
                  () ->
                      TestSpark.batch(TestSpark.rows(1), guarded.port(), "t")
                          .option("username", "ann")
                          .option("password", "wrong-and-secret")
                          .save()));
      assertEquals(ErrorCode.AUTH_FAILED, error.code(), error.getMessage());
      Errors.says(error.getMessage(), addr, "401");
      assertEquals(-1, error.getMessage().indexOf("wrong-and-secret"));
      TestSpark.batch(TestSpark.rows(10), guarded.port(), "t")
          .option("username", "ann")
          .option("password", "right")
          .option("create_table", "on")
          .save();
    }
  }
}
