package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.TtlFloor;
import org.questdbsf.testserver.CutRule;
import org.questdbsf.testserver.TestServer;

/** Threads and descriptors stay what they are. */
class LeakTest {
  private static final TestServer SERVER = TestSpark.SERVER;
  private static final StructType SCHEMA = StructType.fromDDL("id bigint, ts timestamp");

  private static LaneSettings settings(String table) {
    SfOptions options =
        SfOptions.of(
            Map.of(
                "addr", "127.0.0.1:" + SERVER.port(1),
                "table", table,
                "timestamp", "ts",
                "reconnect_initial_backoff_millis", "1",
                "reconnect_max_backoff_millis", "5",
                "max_lanes", "2"));
    RowPlan plan = SchemaCheck.plan(options, SCHEMA, null);
    return new LaneSettings(
        options, plan, true, "leak", "leak", OnMissingTable.FAIL, TtlFloor.NONE);
  }

  private static void write(SfDataWriter writer, long id) throws Exception {
    InternalRow row = new GenericInternalRow(new Object[] {id, 1_600_000_000_000_000L + id});
    writer.write(row);
  }

  @Test
  void lanesThatAreReplacedAndReconnectsLeaveNothing() throws Exception {
    SERVER.sql("CREATE TABLE leak_t (id LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    LaneSettings settings = settings("leak_t");
    commitOne(settings, 0);
    Held before = Held.now();
    for (int i = 1; i <= 50; i++) {
      SfDataWriter writer = new SfDataWriter(settings, SCHEMA, 0, i, i);
      write(writer, i);
      writer.abort();
      writer.close();
      commitOne(settings, 1000 + i);
    }
    for (int i = 0; i < 200; i++) {
      // Cut before the message is acknowledged: it goes out again on the next connection.
      SERVER.script(1).drop(new CutRule(0, null, 1, 1));
      commitOne(settings, 2000 + i);
    }
    SERVER.script(1).reset();
    commitOne(settings, 3000);
    assertTrue(
        LanePools.of(settings).totals()[SfMetric.RECONNECTS_SUCCEEDED.ordinal()] >= 100,
        "reconnects");
    before.assertNothingGained();
  }

  private static void commitOne(LaneSettings settings, long id) throws Exception {
    SfDataWriter writer = new SfDataWriter(settings, SCHEMA, 0, id, id);
    write(writer, id);
    writer.commit();
    writer.close();
  }

  @Test
  void microBatchesLeaveNothing() throws Exception {
    TestSpark.create("batches_t", "");
    StreamingQuery query =
        TestSpark.sink(
                TestSpark.SESSION
                    .readStream()
                    .format("rate-micro-batch")
                    .option("rowsPerBatch", 10)
                    .option("numPartitions", 1)
                    .load()
                    .selectExpr("value as id", "timestamp as ts"),
                SERVER.port(),
                "batches_t")
            .option("checkpointLocation", inMemory().toString())
            .trigger(Trigger.ProcessingTime(0))
            .start();
    try {
      awaitBatch(query, 5);
      Held before = Held.now();
      awaitBatch(query, 205);
      before.assertNothingGained();
    } finally {
      query.stop();
    }
  }

  private static Path inMemory() throws IOException {
    Path shm = Path.of("/dev/shm");
    return Files.isWritable(shm)
        ? Files.createTempDirectory(shm, "questdb-sf-cp")
        : TestSpark.temporary("cp");
  }

  private static void awaitBatch(StreamingQuery query, long batch) throws InterruptedException {
    TestSpark.await(
        "batch " + batch,
        () -> {
          return !query.isActive()
              || query.lastProgress() != null && query.lastProgress().batchId() >= batch;
        });
    assertTrue(query.isActive(), () -> query.exception().toString());
  }

  /** Threads by kind, and open descriptors, of this JVM, server and all. */
  private record Held(Map<String, Integer> threads, long descriptors) {
    static Held now() {
      Map<String, Integer> threads = new TreeMap<>();
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().matches("questdb-sf-(?!testserver).*")) {
          threads.merge(thread.getName().replaceAll("[0-9]+", "N"), 1, Integer::sum);
        }
      }
      return new Held(threads, countDescriptors());
    }

    /**
     * Pollers, and sockets to the server that the near end has not closed. The server is in this
     * JVM, so that its own sockets and files must not be counted.
     */
    private static long countDescriptors() {
      try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"));
          Stream<String> sockets = Files.lines(Path.of("/proc/net/tcp"))) {
        return descriptors.filter(Held::isPoller).count()
            + sockets.filter(Held::isOpenToServer).count();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static boolean isPoller(Path descriptor) {
      try {
        return Files.readSymbolicLink(descriptor).toString().startsWith("anon_inode:");
      } catch (IOException e) {
        return false; // closed meanwhile
      }
    }

    /** Of /proc/net/tcp: number, local, remote, state (01 established, 08 close wait). */
    private static boolean isOpenToServer(String line) {
      String[] columns = line.strip().split("\\s+");
      boolean held = columns[3].equals("01") || columns[3].equals("08");
      return held
          && (columns[2].endsWith(String.format(":%04X", SERVER.port(0)))
              || columns[2].endsWith(String.format(":%04X", SERVER.port(1))));
    }

    void assertNothingGained() throws InterruptedException {
      List<String> gained = new ArrayList<>();
      TestSpark.await(
          () -> "no thread or descriptor more than before: " + this + ", gained " + gained,
          () -> {
            Held now = now();
            gained.clear();
            now.threads.forEach(
                (name, count) -> {
                  if (count > threads.getOrDefault(name, 0)) {
                    gained.add(name + " " + count);
                  }
                });
            if (now.descriptors > descriptors + 4) {
              gained.add("descriptors " + now.descriptors);
            }
            return gained.isEmpty();
          });
    }
  }
}
