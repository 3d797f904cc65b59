package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.testserver.NackRule;

/** The event of a query's end says why it came. */
class EndOfQueryTest {
  private static final String TRACE =
      "org.apache.spark.SparkException: [TASK_WRITE_FAILED] Writing failed.\\n"
          + "\\tat org.apache.spark.Some.where(Some.java:1)\\n"
          + "Caused by: org.questdbsf.error.SfException: TABLE_MISSING: table 't' is not there\\n"
          + "\\tat org.questdbsf.Some.where(Some.java:1)\\n"
          + "Caused by: java.io.IOException: below\\n"
          + "\\t... 9 more\\n";

  private static String json(String exception) {
    return "{\"id\":\"1\",\"exception\":" + exception + "}";
  }

  @AfterEach
  void healthy() {
    TestSpark.SERVER.script().reset();
  }

  @Test
  void ofATraceTheSinksErrorIsToldElseTheInnermost() {
    assertEquals(
        "failed: TABLE_MISSING: table 't' is not there",
        EndOfQuery.cause(json("\"" + TRACE + "\"")));
    assertEquals(
        "failed: java.io.IOException: below",
        EndOfQuery.cause(json("\"" + TRACE.replace("questdbsf.error", "other") + "\"")));
    assertEquals("failed: just words", EndOfQuery.cause(json("\"just words\"")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"exception\":null}", "{\"exception\":\"\"}"})
  void withoutAnExceptionItWasStopped(String json) {
    assertEquals("stopped", EndOfQuery.cause(json));
  }

  @Test
  void whatCannotBeReadIsSaid() {
    assertTrue(EndOfQuery.cause("no JSON").startsWith("ended for a reason"));
  }

  private static String end(String table, Runner runner) throws Exception {
    BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    SfEventHandler handler =
        event -> {
          if (event.kind() == SfEvent.Kind.ENDED) {
            ends.add(event.queryId() + " " + event.message());
          }
        };
    try (SfRegistration registered = SfHandlers.add(handler, false, 64)) {
      StreamingQuery query =
          TestSpark.sink(TestSpark.stream(10, 1, 1), TestSpark.SERVER.port(), table)
              .option("create_table", false)
              .start();
      runner.run(query);
      String told = ends.poll(60, TimeUnit.SECONDS);
      assertTrue(told.startsWith(query.id() + " "), told);
      return told.substring(query.id().toString().length() + 1);
    }
  }

  private interface Runner {
    void run(StreamingQuery query) throws Exception;
  }

  @Test
  void sparkTellsTheCauseOfRealQueries() throws Exception {
    TestSpark.create("ended_t", "");
    assertEquals("stopped", end("ended_t", query -> query.awaitTermination(60_000)));
    TestSpark.SERVER.script().nack(NackRule.always(0x03, "no such shape"));
    String failed =
        end(
            "ended_t",
            query ->
                assertThrows(StreamingQueryException.class, () -> query.awaitTermination(60_000)));
    for (String word : List.of("failed: ", "SERVER_REJECTED: ", "'ended_t'", "no such shape")) {
      assertTrue(failed.contains(word), failed);
    }
  }
}
