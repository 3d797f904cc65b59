package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.TtlFloor;

/** Pools without Spark; their server is away for good. */
@Timeout(60)
class LanePoolTest {
  private final ExecutorService tasks = Executors.newCachedThreadPool();
  @TempDir Path dir;

  @AfterEach
  void end() {
    tasks.shutdownNow();
  }

  private static LaneSettings settings(boolean streaming, String... more) {
    Map<String, String> map = new HashMap<>();
    map.put("addr", "127.0.0.1:1");
    map.put("table", "t");
    map.put("timestamp", "ts");
    map.put("max_lanes", "1");
    for (int i = 0; i < more.length; i += 2) {
      map.put(more[i], more[i + 1]);
    }
    SfOptions options = SfOptions.of(map);
    StructType schema = new StructType().add("ts", DataTypes.TimestampType);
    RowPlan plan = SchemaCheck.plan(options, schema, null);
    return new LaneSettings(
        options, plan, streaming, "query", "pooled", OnMissingTable.FAIL, TtlFloor.NONE);
  }

  private static void await(BooleanSupplier holds) throws InterruptedException {
    while (!holds.getAsBoolean()) {
      Thread.sleep(5); // ended by the time-out of the test
    }
  }

  private static void publishRow(Lane lane) throws InterruptedException {
    TableBlock block = lane.sender().newBlock("t");
    block.column("n", org.questdbsf.qwp.QwpType.LONG).putLong(1);
    block.endRow();
    lane.sender().publish(block);
  }

  @Test
  void anErrorToldToOneTaskKeepsNoOtherWaiting() throws Exception {
    LaneSettings settings =
        settings(
            false,
            "commit_on",
            "store",
            "sf_dir",
            dir.toString(),
            "sf_min_free_bytes",
            "0",
            "drain_orphans",
            "off",
            "reconnect_max_duration_millis",
            "300");
    LanePools.Loan loan = LanePools.borrow(settings);
    publishRow(loan.lane());
    List<Future<Lane>> waiting = new ArrayList<>();
    CountDownLatch asking = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) {
      waiting.add(
          tasks.submit(
              () -> {
                asking.countDown();
                return loan.pool().borrow();
              }));
    }
    asking.await();
    await(loan.lane()::failed);
    loan.pool().giveBack(loan.lane());
    int told = 0;
    Lane lent = null;
    for (Future<Lane> task : waiting) {
      try {
        lent = task.get(20, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        told++;
        assertTrue(
            e.getCause().getMessage().contains("rows of an earlier task stay in slot"),
            e::toString);
        assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, ((SfException) e.getCause()).code());
      }
    }
    assertEquals(1, told);
    assertNotSame(loan.lane(), lent);
    loan.pool().giveBack(lent);
  }

  @Test
  void idleLanesOfOtherPoolsGiveUpTheirPartOfTheBudget() throws Exception {
    // Half the budget for the one lane of each of three pools.
    String[] budget = {"sf_max_total_bytes", "512k", "sf_max_segment_bytes", "128k"};
    for (String query : List.of("1", "2", "3")) {
      LaneSettings settings =
          settings(true, budget[0], budget[1], budget[2], budget[3], "frame_rows", query);
      LanePools.Loan loan = LanePools.borrow(settings);
      loan.pool().giveBack(loan.lane());
    }
  }

  @Test
  void aTaskWaitsForABudgetThatOthersHoldAndCanBeInterrupted() throws Exception {
    String[] budget = {"sf_max_total_bytes", "384k", "sf_max_segment_bytes", "128k"};
    LaneSettings first =
        settings(true, budget[0], budget[1], budget[2], budget[3], "frame_rows", "1");
    LaneSettings second =
        settings(true, budget[0], budget[1], budget[2], budget[3], "frame_rows", "2");
    LanePools.Loan held = LanePools.borrow(first);
    Future<LanePools.Loan> waits = tasks.submit(() -> LanePools.borrow(second));
    assertThrows(
        java.util.concurrent.TimeoutException.class, () -> waits.get(500, TimeUnit.MILLISECONDS));
    held.pool().giveBack(held.lane());
    LanePools.Loan loan = waits.get(20, TimeUnit.SECONDS);

    CountDownLatch interrupted = new CountDownLatch(1);
    Future<?> another =
        tasks.submit(
            () -> {
              try {
                return LanePools.borrow(first);
              } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
              }
            });
    assertThrows(
        java.util.concurrent.TimeoutException.class, () -> another.get(300, TimeUnit.MILLISECONDS));
    another.cancel(true);
    interrupted.await();
    loan.pool().giveBack(loan.lane());
  }

  @Test
  void updatesWaitUntilNoSlotHoldsRowsForTheSameTarget() throws Exception {
    String sfDir = dir.toString();
    LaneSettings store =
        settings(
            true,
            "commit_on",
            "store",
            "sf_dir",
            sfDir,
            "sf_min_free_bytes",
            "0",
            "drain_orphans",
            "off");
    String[] update = {
      "commit_on", "ack", "sf_dir", sfDir, "drain_orphans", "off", "update_keys", "ts"
    };
    LanePools.Loan holds = LanePools.borrow(store);
    publishRow(holds.lane());
    Errors.of(
        ErrorCode.CONFIG_CONFLICT,
        () -> LanePools.borrow(settings(true, update)),
        "pooled-0",
        "not sent yet",
        "slots drain");
    String[] elsewhere = Arrays.copyOf(update, update.length + 2);
    elsewhere[update.length] = "addr";
    elsewhere[update.length + 1] = "127.0.0.1:2";
    LanePools.Loan free = LanePools.borrow(settings(true, elsewhere));
    free.pool().giveBack(free.lane());
    holds.pool().giveBack(holds.lane());
  }
}
