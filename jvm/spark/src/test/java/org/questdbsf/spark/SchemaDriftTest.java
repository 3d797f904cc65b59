package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.testserver.TestServer;

/**
 * Rows whose schema is not the table's, or no longer: each arrives as it is, or an error says so.
 */
class SchemaDriftTest {
  private static final TestServer SERVER = TestSpark.SERVER;

  private static Dataset<Row> rows(String... columns) {
    String[] all = java.util.Arrays.copyOf(columns, columns.length + 1);
    all[columns.length] = "timestamp_micros(1600000000000000 + id) as ts";
    return TestSpark.SESSION.range(0, 3, 1, 1).selectExpr(all);
  }

  private static void create(String table, String type) {
    SERVER.sql(
        "CREATE TABLE "
            + table
            + " (x "
            + type
            + ", ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
  }

  @Test
  void columnsGoByNameInAnyOrderAndCase() {
    create("drift_names", "LONG");
    TestSpark.batch(rows("id as x"), SERVER.port(), "drift_names").save();
    TestSpark.batch(rows("'new' as added", "id + 10 as X"), SERVER.port(), "drift_names").save();
    TestSpark.batch(rows("id + 20 as x"), SERVER.port(), "DRIFT_NAMES").save();
    SERVER.awaitRows("drift_names", 9);
    assertEquals(
        List.of(0L, 1L, 2L, 10L, 11L, 12L, 20L, 21L, 22L),
        SERVER.query("SELECT x FROM drift_names ORDER BY x").stream().map(row -> row[0]).toList());
    assertEquals(
        3, TestSpark.number("SELECT count() FROM drift_names WHERE added = 'new' AND x >= 10"));
    assertEquals(
        3L,
        TestSpark.number("SELECT count() FROM table_columns('drift_names')"),
        "no column twice");
  }

  /** What fits exactly is written, what does not is refused by row, whichever side is wider. */
  @ParameterizedTest
  @CsvSource({
    "INT, bigint, 7, 3000000000",
    "SHORT, int, -32768, 32768",
    "BYTE, bigint, 127, 128",
    "LONG, int, -2147483648, ",
    "LONG, tinyint, -128, ",
    "DOUBLE, int, 7, ",
    "DOUBLE, bigint, 9007199254740992, 9007199254740993",
    "FLOAT, double, 0.5, 0.1",
    "DOUBLE, float, 0.5, ",
    "'DECIMAL(5,2)', int, 999, 1000",
    "'DECIMAL(20,4)', 'decimal(10,2)', 1.25, "
  })
  void numbersOfAnotherWidth(String type, String given, String good, String bad) {
    String table = "drift_" + (type + "_" + given).replaceAll("\\W+", "_");
    create(table, type);
    TestSpark.batch(rows("cast(" + good + " as " + given + ") as x"), SERVER.port(), table).save();
    SERVER.awaitRows(table, 3);
    for (Object[] row : SERVER.query("SELECT x FROM " + table)) {
      assertEquals(0, new BigDecimal(row[0].toString()).compareTo(new BigDecimal(good)), good);
    }
    if (bad != null) {
      SfException error =
          Errors.within(
              assertThrows(
                  Exception.class,
                  () ->
                      TestSpark.batch(
                              rows("cast(" + bad + " as " + given + ") as x"), SERVER.port(), table)
                          .save()));
      assertEquals(ErrorCode.VALUE_INVALID, error.code(), error.getMessage());
      Errors.says(error.getMessage(), "table '" + table + "'", "column 'x'", "row 1");
      assertEquals(3, TestSpark.number("SELECT count() FROM " + table));
    }
  }

  /** The rows that the new type cannot carry are the checkpoint's until somebody mends them. */
  @Test
  void aTypeThatChangesBetweenRunsLosesNoRow() throws Exception {
    create("drift_restart", "INT");
    Path input = TestSpark.temporary("drift-in");
    Path checkpoint = TestSpark.temporary("drift-cp");
    run(input, checkpoint, "cast(id as int)", "cast(x as int) as x");
    SERVER.awaitRows("drift_restart", 3);
    StreamingQueryException refused =
        assertThrows(
            StreamingQueryException.class, () -> run(input, checkpoint, "id + 3000000000", "x"));
    SfException error = Errors.within(refused);
    assertEquals(ErrorCode.VALUE_INVALID, error.code(), error.getMessage());
    Errors.says(error.getMessage(), "3000000000", "INT", "'x'", "drift_restart");
    refused =
        assertThrows(
            StreamingQueryException.class,
            () -> run(input, checkpoint, "id + 30", "cast(x as string) as x"));
    Errors.says(refused.getMessage(), "TABLE_MISMATCH", "'x'", "INT", "STRING");
    SERVER.sql("ALTER TABLE drift_restart ALTER COLUMN x TYPE LONG");
    run(input, checkpoint, "id + 60", "x");
    SERVER.awaitRows("drift_restart", 12);
    assertEquals(
        List.of(0L, 1L, 2L, 30L, 31L, 32L, 60L, 61L, 62L, 3000000000L, 3000000001L, 3000000002L),
        SERVER.query("SELECT DISTINCT x FROM drift_restart ORDER BY x").stream()
            .map(row -> row[0])
            .toList());
  }

  private static void run(Path input, Path checkpoint, String more, String select)
      throws Exception {
    TestSpark.SESSION
        .range(0, 3, 1, 1)
        .selectExpr(
            "cast(" + more + " as bigint) as x", "timestamp_micros(1600000000000000 + id) as ts")
        .write()
        .mode("append")
        .parquet(input.toString());
    Dataset<Row> stream =
        TestSpark.SESSION.readStream().schema("x bigint, ts timestamp").parquet(input.toString());
    StreamingQuery query =
        TestSpark.sink(stream.selectExpr(select, "ts"), SERVER.port(), "drift_restart")
            .option("checkpointLocation", checkpoint.toString())
            .start();
    assertTrue(query.awaitTermination(60_000));
  }

  /** A server that makes the table itself calls its designated timestamp so, and has two then. */
  @Test
  void aColumnCalledTimestampNeedsATableOfOurs() {
    Dataset<Row> rows = rows("id as x", "concat('at ', id) as Timestamp");
    SERVER.script().httpStatus(404);
    try {
      SfException error = refused(rows, "drift_timestamp");
      assertEquals(ErrorCode.TABLE_MISMATCH, error.code(), error.getMessage());
      Errors.says(error.getMessage(), "'drift_timestamp'", "'Timestamp'", "HTTP 404", "Rename");
    } finally {
      SERVER.script().reset();
    }
    TestSpark.batch(rows, SERVER.port(), "drift_timestamp").option("create_table", "on").save();
    SERVER.awaitRows("drift_timestamp", 3);
    assertEquals(
        3, TestSpark.number("SELECT count() FROM drift_timestamp WHERE timestamp LIKE 'at %'"));

    SfException twice =
        Errors.within(
            assertThrows(
                Exception.class,
                () ->
                    rows.drop("ts")
                        .write()
                        .format("questdb-sf")
                        .mode("append")
                        .option("addr", "127.0.0.1:" + SERVER.port())
                        .option("table", "drift_two_times")
                        .option("create_table", "on")
                        .option("server_timestamp", "on")
                        .save()));
    assertEquals(ErrorCode.NAME_INVALID, twice.code(), twice.getMessage());
    Errors.says(twice.getMessage(), "'drift_two_times'", "'Timestamp'");
  }

  /** Beside the rows' own timestamp it would shift the times of later rows of the table. */
  @Test
  void anOrdinaryColumnIsNotTheTablesTimestamp() {
    SERVER.sql("CREATE TABLE drift_two (x LONG, t0 TIMESTAMP) TIMESTAMP(t0) PARTITION BY DAY WAL");
    SfException error = refused(rows("id as x", "timestamp_micros(id) as T0"), "drift_two");
    assertEquals(ErrorCode.TABLE_MISMATCH, error.code(), error.getMessage());
    Errors.says(error.getMessage(), "'drift_two'", "'T0' is its designated timestamp");
  }

  private static SfException refused(Dataset<Row> rows, String table) {
    return Errors.within(
        assertThrows(Exception.class, () -> TestSpark.batch(rows, SERVER.port(), table).save()));
  }

  /** Append is the one mode of a batch write; each other says so, before anything is sent. */
  @ParameterizedTest
  @ValueSource(strings = {"overwrite", "ignore", "errorifexists"})
  void otherSaveModesAreRefused(String mode) {
    create("drift_modes_" + mode, "LONG");
    Exception thrown =
        assertThrows(
            Exception.class,
            () ->
                TestSpark.batch(rows("id as x"), SERVER.port(), "drift_modes_" + mode)
                    .mode(mode)
                    .save());
    assertTrue(thrown.getMessage().toLowerCase().contains("append"), thrown.getMessage());
    assertEquals(0, TestSpark.number("SELECT count() FROM drift_modes_" + mode));
  }
}
