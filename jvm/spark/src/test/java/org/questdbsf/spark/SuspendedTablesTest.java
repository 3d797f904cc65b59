package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.TtlFloor;

/** How lanes and executors that see suspended tables are counted. */
@Timeout(60)
class SuspendedTablesTest {
  private static final SfMetric GAUGE = SfMetric.SUSPENDED_TABLES;

  private static LaneSettings settings(String table) {
    SfOptions options =
        SfOptions.of(
            Map.of(
                "addr",
                "127.0.0.1:" + TestSpark.SERVER.port(),
                "table",
                table,
                "timestamp",
                "ts",
                "max_lanes",
                "2"));
    RowPlan plan = SchemaCheck.plan(options, StructType.fromDDL("id long, ts timestamp"), null);
    return new LaneSettings(options, plan, true, table, table, OnMissingTable.FAIL, TtlFloor.NONE);
  }

  private static void publish(Lane lane, String table) throws InterruptedException {
    TableBlock block = lane.sender().newBlock(table);
    block.column("id", QwpType.LONG).putLong(1);
    block.designated(QwpType.TIMESTAMP).putLong(1);
    block.endRow();
    lane.sender().awaitAcked(lane.sender().publish(block));
  }

  @Test
  void aTableThatTwoLanesSeeIsOneAndGoesWithTheLastOfThem() throws Exception {
    TestSpark.create("seen_twice", "");
    TestSpark.SERVER.sql("ALTER TABLE seen_twice SUSPEND WAL");
    LaneSettings settings = settings("seen_twice");
    List<LanePools.Loan> loans = List.of(LanePools.borrow(settings), LanePools.borrow(settings));
    LanePool pool = loans.get(0).pool();
    for (LanePools.Loan loan : loans) {
      publish(loan.lane(), "seen_twice");
      assertEquals(1, pool.gauges()[GAUGE.ordinal()]);
    }
    assertEquals(1, LanePools.value(GAUGE));
    pool.discard(loans.get(0).lane());
    assertEquals(1, pool.gauges()[GAUGE.ordinal()]);
    pool.discard(loans.get(1).lane());
    assertEquals(0, pool.gauges()[GAUGE.ordinal()]);
    TestSpark.SERVER.sql("ALTER TABLE seen_twice RESUME WAL");
    TestSpark.SERVER.awaitRows("seen_twice", 2);
  }

  @Test
  void theHighestOfExecutorsTellsAndWhoIsSilentIsForgotten() {
    AtomicLong now = new AtomicLong();
    DriverLedger ledger = new DriverLedger(false, now::get);
    ledger.take(said("1", 2));
    ledger.take(said("2", 1));
    assertEquals(2, ledger.value(GAUGE));
    now.addAndGet(TimeUnit.SECONDS.toNanos(59));
    ledger.take(said("2", 1));
    assertEquals(2, ledger.value(GAUGE));
    now.addAndGet(TimeUnit.SECONDS.toNanos(2));
    assertEquals(1, ledger.value(GAUGE));
    ledger.take(said("2", 0));
    assertEquals(0, ledger.value(GAUGE));
  }

  private static TaskReport said(String executor, long suspended) {
    long[] gauges = new long[SfMetric.values().length];
    gauges[GAUGE.ordinal()] = suspended;
    long[] none = new long[gauges.length];
    return new TaskReport(
        "host", executor, List.of(), 0, 0, 0, List.of(), List.of(), none, gauges, "ok", List.of());
  }
}
