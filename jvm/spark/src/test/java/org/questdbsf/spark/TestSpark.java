package org.questdbsf.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.Trigger;
import org.questdbsf.testserver.TestServer;
import org.questdbsf.testserver.TestServerOptions;

/**
 * One local session and one server for all tests of a JVM: two task slots, three attempts a task.
 */
final class TestSpark {
  static final SparkSession SESSION =
      SparkSession.builder()
          .master("local[2,3]")
          .appName("questdb-sf tests")
          .config("spark.ui.port", "0")
          .config("spark.sql.shuffle.partitions", "2")
          .config("spark.sql.warehouse.dir", temporary("warehouse").toString())
          .config("spark.sql.session.timeZone", "America/New_York")
          .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
          .config("spark.driver.host", "127.0.0.1")
          .config("spark.driver.bindAddress", "127.0.0.1")
          .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
          .getOrCreate();

  static final TestServer SERVER = TestServer.start(TestServerOptions.defaults().withPorts(0, 0));

  static {
    SESSION.sparkContext().setLogLevel("WARN");
    Runtime.getRuntime().addShutdownHook(new Thread(SERVER::close));
  }

  private TestSpark() {}

  /** A fresh directory. */
  static Path temporary(String name) {
    try {
      return Files.createTempDirectory("questdb-sf-" + name + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Rows id, sym, txt, dbl, ts; all different. */
  static Dataset<Row> rows(long count) {
    return SESSION
        .range(0, count, 1, 2)
        .selectExpr(
            "id",
            "cast(id % 7 as string) as sym",
            "concat('text ', id) as txt",
            "id / 4 as dbl",
            "timestamp_micros(1600000000000000 + id * 1000) as ts");
  }

  /** A batch write to a port of 127.0.0.1. */
  static DataFrameWriter<Row> batch(Dataset<Row> rows, int port, String table) {
    return rows.write()
        .format("questdb-sf")
        .mode("append")
        .option("addr", "127.0.0.1:" + port)
        .option("reconnect_max_backoff_millis", 200)
        .option("table", table)
        .option("timestamp", "ts");
  }

  /** Files of rows, read as a stream, so many files a batch, until there are no more. */
  static Dataset<Row> stream(long count, int files, int filesPerBatch) {
    String dir = temporary("in").toString();
    rows(count).repartition(files).write().mode("overwrite").parquet(dir);
    return SESSION
        .readStream()
        .schema(rows(1).schema())
        .option("maxFilesPerTrigger", filesPerBatch)
        .parquet(dir);
  }

  /** A streaming write to a port of 127.0.0.1. */
  static DataStreamWriter<Row> sink(Dataset<Row> rows, int port, String table) {
    return rows.writeStream()
        .format("questdb-sf")
        .option("checkpointLocation", temporary("cp").toString())
        .option("addr", "127.0.0.1:" + port)
        .option("reconnect_max_backoff_millis", 200)
        .option("table", table)
        .option("timestamp", "ts")
        .trigger(Trigger.AvailableNow());
  }

  static long number(String sql) {
    return (Long) SERVER.query(sql).get(0)[0];
  }

  /** Waits until all ids below {@code count} are in the table. */
  static void awaitIds(String table, long count) throws InterruptedException {
    await("all ids in " + table, () -> number("select count_distinct(id) from " + table) == count);
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    await(() -> what, condition);
  }

  static void await(Supplier<String> what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within 120 s: " + what.get());
      }
      Thread.sleep(20);
    }
  }

  /** Creates a table for {@link #rows}; the TTL may be empty. */
  static void create(String table, String ttl) {
    SERVER.sql(
        "CREATE TABLE "
            + table
            + " (id LONG, sym SYMBOL, txt VARCHAR, dbl DOUBLE, ts TIMESTAMP)"
            + " TIMESTAMP(ts) PARTITION BY DAY "
            + ttl
            + " WAL");
  }
}
