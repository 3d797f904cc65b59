package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.TtlFloor;
import org.questdbsf.testserver.CutRule;

/**
 * Tasks write, commit, abort and are interrupted at random while the way to the server is cut. When
 * it is there again all rows drain, idle lanes end, and no thread of a lane is left.
 */
@Timeout(600)
class LaneStressTest {
  private static final StructType SCHEMA = StructType.fromDDL("id bigint, ts timestamp");

  /** Tasks, however slow the machine is. */
  private static final int LEAST = 50;

  private static final long SECONDS = Long.getLong("stop.stress.seconds", 4);
  private static final long SEED = Long.getLong("stop.stress.seed", System.nanoTime());

  @TempDir Path dir;
  private final Collection<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger tasks = new AtomicInteger();
  private volatile long end;

  private LaneSettings settings(int port, boolean store, int query) {
    Map<String, String> map = new HashMap<>();
    map.put("addr", "127.0.0.1:" + port);
    map.put("table", "stress_t");
    map.put("timestamp", "ts");
    map.put("max_lanes", "2");
    map.put("frame_rows", "1" + query);
    map.put("reconnect_initial_backoff_millis", "1");
    map.put("reconnect_max_backoff_millis", "50");
    map.put("ack_timeout_millis", "500");
    map.put("auth_timeout_ms", "500");
    map.put("sf_max_total_bytes", "4m");
    map.put("sf_max_segment_bytes", "128k");
    if (store) {
      map.put("commit_on", "store");
      map.put("sf_dir", dir.toString());
      map.put("sf_min_free_bytes", "0");
    }
    SfOptions options = SfOptions.of(map);
    RowPlan plan = SchemaCheck.plan(options, SCHEMA, null);
    return new LaneSettings(
        options,
        plan,
        true,
        "stress" + query,
        "stress" + query,
        OnMissingTable.CREATE,
        TtlFloor.NONE);
  }

  private static List<String> lanes() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("questdb-sf-send-") || name.contains("orphan-close"))
        .toList();
  }

  @Test
  void noLaneIsLeft() throws Exception {
    SplittableRandom seeds = new SplittableRandom(SEED);
    System.out.println("seed " + SEED);
    TestSpark.create("stress_t", "");
    List<String> before = lanes();
    end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    try (Relay relay = new Relay(TestSpark.SERVER.port(1)).up()) {
      List<Thread> threads = new ArrayList<>();
      List<LaneSettings> all = new ArrayList<>();
      for (int n = 0; n < 4; n++) {
        all.add(settings(relay.port(), n % 2 == 0, n));
      }
      for (int n = 0; n < 8; n++) {
        SplittableRandom random = seeds.split();
        LaneSettings mine = all.get(n % 4);
        threads.add(new Thread(() -> work(mine, random), "stress-" + n));
      }
      threads.forEach(Thread::start);
      SplittableRandom random = seeds.split();
      boolean up = true;
      while (goesOn()) {
        switch (random.nextInt(12)) {
          case 0 -> {
            if (up) {
              relay.down();
            } else {
              relay.up();
            }
            up = !up;
          }
          case 1 -> TestSpark.SERVER.script(1).silent(true);
          case 2 -> TestSpark.SERVER.script(1).holdAcks(true);
          case 3 -> TestSpark.SERVER.script(1).drop(CutRule.drop(random.nextInt(4)));
          case 4, 5, 6, 7 -> threads.get(random.nextInt(threads.size())).interrupt();
          default -> TestSpark.SERVER.script(1).reset();
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(40));
      }
      TestSpark.SERVER.script(1).reset();
      if (!up) {
        relay.up();
      }
      for (Thread thread : threads) {
        thread.join(60_000);
        if (thread.isAlive()) {
          wrong.add(thread + " does not end: " + List.of(thread.getStackTrace()));
        }
      }
      TestSpark.await("no lane: ", () -> before.containsAll(lanes()));
      System.out.println(tasks + " tasks, seed " + SEED);
      assertEquals(List.of(), List.copyOf(wrong));
    }
  }

  private boolean goesOn() {
    return System.nanoTime() - end < 0 || tasks.get() < LEAST;
  }

  private void work(LaneSettings settings, SplittableRandom random) {
    while (goesOn()) {
      Thread.interrupted();
      SfDataWriter writer = new SfDataWriter(settings, SCHEMA, 0, tasks.incrementAndGet(), 1);
      try {
        int rows = random.nextInt(200);
        for (int n = 0; n < rows; n++) {
          InternalRow row =
              new GenericInternalRow(new Object[] {(long) n, 1_600_000_000_000_000L + n});
          writer.write(row);
        }
        if (random.nextInt(5) == 0) {
          writer.abort();
        } else {
          writer.commit();
        }
      } catch (IOException e) {
        writer.abort();
      } catch (SfException e) {
        if (e.code() == ErrorCode.INTERNAL_FAULT) {
          wrong.add(e + " " + List.of(e.getStackTrace()));
        }
        writer.abort();
      } catch (RuntimeException e) {
        wrong.add(e + " " + List.of(e.getStackTrace()));
        writer.abort();
      } finally {
        writer.close();
      }
    }
  }
}
