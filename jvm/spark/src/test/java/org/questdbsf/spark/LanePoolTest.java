package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
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
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.TtlFloor;

/** Pools without Spark; their server is away for good. */
@Timeout(60)
class LanePoolTest {
  private static final StructType SCHEMA = StructType.fromDDL("name string, ts timestamp");

  private final ExecutorService tasks = Executors.newCachedThreadPool();

  // Idle lanes go on with their slots after the test.
  @TempDir(cleanup = CleanupMode.NEVER)
  Path dir;

  @AfterEach
  void end() {
    tasks.shutdownNow();
  }

  private LaneSettings onDisk(boolean streaming, String... more) {
    String[] all = {
      "commit_on",
      "store",
      "sf_dir",
      dir.toString(),
      "sf_min_free_bytes",
      "0",
      "drain_orphans",
      "off"
    };
    String[] both = Arrays.copyOf(all, all.length + more.length);
    System.arraycopy(more, 0, both, all.length, more.length);
    return settings(streaming, both);
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
    RowPlan plan = SchemaCheck.plan(options, SCHEMA, null);
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
    LaneSettings settings = onDisk(false, "reconnect_max_duration_millis", "300");
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
    LaneSettings store = onDisk(true);
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

  @Test
  void onlySlotsOfTheSameSenderIdStopUpdatesWhereTheyCannotBeLookedAt() throws Exception {
    String[] update = {
      "commit_on", "ack", "sf_dir", dir.toString(), "drain_orphans", "off", "update_keys", "ts"
    };
    for (String name : List.of("backup", "other-0", "pooled-eu-0", "pooled-0.unreplayable-1")) {
      Files.createDirectories(dir.resolve(name).resolve(".target")); // not a file
    }
    LanePools.Loan loan = LanePools.borrow(settings(true, update));
    loan.pool().giveBack(loan.lane());
    Files.createDirectories(dir.resolve("pooled-7").resolve(".target"));
    String[] another = Arrays.copyOf(update, update.length + 2); // another pool, which looks anew
    another[update.length] = "frame_rows";
    another[update.length + 1] = "7";
    Errors.of(
        ErrorCode.CONFIG_CONFLICT,
        () -> LanePools.borrow(settings(true, another)),
        "pooled-7",
        "cannot be looked at");
  }

  /** What a lane knows of tables, it keeps while it lives: it does not live for ever. */
  @Test
  void aLaneOfManyTablesIsReplaced() throws Exception {
    LaneSettings settings = onDisk(true);
    LanePools.Loan loan = LanePools.borrow(settings);
    RowEncoder encoder = new RowEncoder(settings.plan(), settings.options());
    for (int n = 0; n < 1000; n++) {
      loan.lane().binding("table" + n, encoder);
    }
    loan.pool().giveBack(loan.lane());
    LanePools.Loan same = LanePools.borrow(settings);
    assertSame(loan.lane(), same.lane());
    same.lane().binding("one more", encoder);
    same.pool().giveBack(same.lane());
    LanePools.Loan other = LanePools.borrow(settings);
    assertNotSame(loan.lane(), other.lane());
    other.pool().giveBack(other.lane());
  }

  /** A task whose symbols filled two lanes: the last one drained says nothing of the first. */
  @Test
  void rowsOfATaskAreBookedOnTheLaneThatTookThem() throws Exception {
    LaneSettings settings = onDisk(true, "symbols", "name", "max_symbols_per_slot", "1000");
    SfDataWriter writer = new SfDataWriter(settings, SCHEMA, 0, 0, 0);
    for (long n = 0; n < 2500; n++) {
      Object[] row = {UTF8String.fromString("a symbol with a long name, number " + n), n};
      writer.write(new GenericInternalRow(row));
    }
    TaskReport said = ((SfCommitMessage) writer.commit()).report();
    writer.close();
    assertTrue(said.parts().size() > 1, said.parts()::toString);
    assertEquals(2500, said.parts().stream().mapToLong(TaskReport.Part::rows).sum());
    assertEquals(
        said.parts().size(),
        said.parts().stream().map(TaskReport.Part::incarnation).distinct().count());
    DriverLedger ledger = new DriverLedger(true);
    ledger.take(said);
    assertEquals(2500, ledger.undeliveredRows());
    TaskReport.Part last = said.parts().get(said.parts().size() - 1);
    ledger.take(acknowledged(said, last));
    assertEquals(2500 - last.rows(), ledger.undeliveredRows());
    said.parts().forEach(part -> ledger.take(acknowledged(said, part)));
    assertEquals(0, ledger.undeliveredRows());
  }

  /** What an executor says when a lane has sent the rows of a task. */
  private static TaskReport acknowledged(TaskReport said, TaskReport.Part part) {
    long fsn = part.lastFsn();
    LaneReport lane = new LaneReport(part.place(), part.incarnation(), fsn, fsn, 0, 0);
    return new TaskReport(
        said.host(),
        said.executorId(),
        List.of(),
        0,
        0,
        0,
        List.of(lane),
        List.of(),
        new long[SfMetric.values().length],
        said.gauges(),
        "ok",
        List.of());
  }
}
