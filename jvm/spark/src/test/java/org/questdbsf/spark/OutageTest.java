package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.Sender;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SlotTarget;
import org.questdbsf.sender.TableSpec;
import org.questdbsf.testserver.CutRule;
import org.questdbsf.testserver.NackRule;
import org.questdbsf.testserver.TestServer;

/** The server away, cut off, slow or refusing while a query runs. */
class OutageTest {
  private static final SparkSession SPARK = TestSpark.SESSION;
  private static final TestServer SERVER = TestSpark.SERVER;

  @AfterEach
  void healthy() {
    SERVER.script().reset();
    SERVER.script(1).reset();
  }

  private static DataStreamWriter<Row> store(
      Dataset<Row> rows, int port, String table, Path sfDir) {
    return TestSpark.sink(rows, port, table)
        .option("commit_on", "store")
        .option("sf_dir", sfDir.toString())
        .option("sf_min_free_bytes", 0);
  }

  @Test
  void cutConnectionsShowInProgressAndInTheSqlTab() throws Exception {
    TestSpark.create("cut_t", "");
    SERVER.script().ackDelayMillis(50).drop(new CutRule(0, null, 3, 6));
    StreamingQuery query =
        TestSpark.sink(TestSpark.stream(4000, 4, 1), SERVER.port(), "cut_t")
            .option("frame_rows", 100)
            .start();
    assertTrue(query.awaitTermination(60_000));
    TestSpark.awaitIds("cut_t", 4000);
    Map<String, String> metrics = query.lastProgress().sink().metrics();
    assertTrue(Long.parseLong(metrics.get("reconnects_succeeded")) > 0, metrics.toString());
    assertTrue(Long.parseLong(metrics.get("frames_replayed")) > 0, metrics.toString());
    Map<String, Long> shown = sqlTab();
    for (String metric :
        new String[] {"rows_written", "frames_sent", "reconnects_succeeded", "frames_replayed"}) {
      assertTrue(shown.getOrDefault(metric, 0L) > 0, metric + " in " + shown);
    }
  }

  /** The sums over all executions that Spark's REST API shows. */
  private static Map<String, Long> sqlTab() throws Exception {
    String url =
        SPARK.sparkContext().uiWebUrl().get()
            + "/api/v1/applications/"
            + SPARK.sparkContext().applicationId()
            + "/sql?details=true&length=1000";
    String json =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url)).build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    Matcher m =
        Pattern.compile("\"name\" : \"questdb-sf (\\w+)\",\\s*\"value\" : \"([0-9,]+)\"")
            .matcher(json);
    Map<String, Long> sums = new HashMap<>();
    while (m.find()) {
      sums.merge(m.group(1), Long.parseLong(m.group(2).replace(",", "")), Long::sum);
    }
    return sums;
  }

  @Test
  void withSlotsTheStreamGoesOnWhileTheServerIsDown() throws Exception {
    TestSpark.create("down_store_t", "");
    Path sfDir = TestSpark.temporary("sf");
    try (Relay relay = new Relay(SERVER.port())) {
      StreamingQuery query =
          store(TestSpark.stream(3000, 3, 1), relay.port(), "down_store_t", sfDir).start();
      assertTrue(query.awaitTermination(60_000), "batches commit without a server");
      Map<String, String> metrics = query.lastProgress().sink().metrics();
      assertEquals("3000", metrics.get("undelivered_rows"));
      assertTrue(metrics.get("health").startsWith("reconnecting"), metrics.get("health"));
      assertTrue(metrics.get("undelivered_rows_by_slot").contains(sfDir.toString()));
      assertEquals(0, TestSpark.number("select count() from down_store_t"));
      relay.up();
      TestSpark.awaitIds("down_store_t", 3000);
    }
    assertEquals(3000, TestSpark.number("select count() from down_store_t"));
  }

  @Test
  void withoutSlotsTheBatchWaitsForTheServer() throws Exception {
    TestSpark.create("down_ack_t", "");
    try (Relay relay = new Relay(SERVER.port())) {
      StreamingQuery query =
          TestSpark.sink(TestSpark.stream(2000, 2, 1), relay.port(), "down_ack_t").start();
      assertFalse(query.awaitTermination(1500));
      assertTrue(query.isActive());
      relay.up();
      assertTrue(query.awaitTermination(60_000));
    }
    TestSpark.awaitIds("down_ack_t", 2000);
  }

  @Test
  void aBatchWriteGivesUpAfterItsBudget() {
    try (Relay relay = new Relay(SERVER.port())) {
      SfException error =
          Errors.within(
              assertThrows(
                  Exception.class,
                  () ->
                      TestSpark.batch(TestSpark.rows(10).coalesce(1), relay.port(), "never_t")
                          .option("reconnect_max_duration_millis", 300)
                          .save()));
      assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, error.code(), error.getMessage());
      Errors.says(error.getMessage(), "127.0.0.1:" + relay.port());
    }
  }

  @Test
  void stopEndsAWaitAtOnce() throws Exception {
    TestSpark.create("stop_t", "");
    SERVER.script(1).holdAcks(true);
    StreamingQuery query =
        TestSpark.sink(TestSpark.stream(1000, 1, 1), SERVER.port(1), "stop_t")
            .option("checkpointLocation", TestSpark.temporary("stop").toString())
            .start();
    TestSpark.await(
        "rows at the server", () -> TestSpark.number("select count() from stop_t") == 1000);
    long before = System.nanoTime();
    query.stop();
    TestSpark.await(
        "no job runs", () -> SPARK.sparkContext().statusTracker().getActiveJobIds().length == 0);
    long millis = (System.nanoTime() - before) / 1_000_000;
    assertTrue(millis < 5000, "stopping took " + millis + " ms");
    TestSpark.await("the connection is closed", () -> SERVER.counters(1).connections() == 0);
  }

  @Test
  void theAdopterSendsWhatEndedProcessesLeft() throws Exception {
    TestSpark.create("orphan_t", "");
    Path sfDir = TestSpark.temporary("sf");
    try (Relay relay = new Relay(SERVER.port())) {
      leaveSlot(sfDir, "family-7", relay.port());
      assertTrue(Files.exists(sfDir.resolve("family-7").resolve(".target")));
      relay.up();
      StreamingQuery query =
          store(TestSpark.stream(10, 1, 1), relay.port(), "orphan_t", sfDir)
              .option("sender_id", "family")
              .start();
      assertTrue(query.awaitTermination(60_000));
      TestSpark.awaitIds("orphan_t", 110);
    }
  }

  /** Ids 10 to 109 in a slot of a sender that has ended. */
  private static void leaveSlot(Path sfDir, String name, int port) throws Exception {
    SfOptions options =
        SfOptions.of(
            Map.of(
                "addr", "127.0.0.1:" + port,
                "table", "orphan_t",
                "commit_on", "store",
                "sf_dir", sfDir.toString(),
                "sf_min_free_bytes", "0"));
    SenderConfig config = SenderSettings.of(options, true, name, 2);
    TableSpec spec = TableSpec.builder("orphan_t").onMissing(OnMissingTable.FAIL).build();
    Sender sender =
        Sender.builder(config)
            .target(SlotTarget.of(config, java.util.List.of(spec), "test"))
            .build();
    TableBlock block = sender.newBlock("orphan_t");
    ColumnBuffer id = block.column("id", QwpType.LONG);
    ColumnBuffer ts = block.designated(QwpType.TIMESTAMP);
    for (int i = 10; i < 110; i++) {
      id.putLong(i);
      ts.putLong(1_600_000_000_000_000L + i);
      block.endRow();
    }
    sender.publish(block);
    sender.force();
    sender.discard();
  }

  @Test
  void aRefusedSlotIsSetAsideAndToldOnce() throws Exception {
    TestSpark.create("aside_t", "");
    Path sfDir = TestSpark.temporary("sf");
    SERVER.script().nack(NackRule.once(0x03, "never this frame"));
    Dataset<Row> rows = TestSpark.rows(100).coalesce(1);
    Runnable write =
        () ->
            TestSpark.batch(rows, SERVER.port(), "aside_t")
                .option("commit_on", "store")
                .option("sf_dir", sfDir.toString())
                .option("sf_min_free_bytes", 0)
                .option("sender_id", "aside")
                .save();
    write.run();
    Path failed = sfDir.resolve("aside-0").resolve(".failed");
    TestSpark.await("the slot is set aside", () -> Files.exists(failed));
    Errors.says(Files.readString(failed), "never this frame");
    write.run(); // its first attempt is told of the refused rows, the second writes
    TestSpark.awaitIds("aside_t", 100);
    assertTrue(Files.exists(sfDir.resolve("aside-1")));
  }
}
