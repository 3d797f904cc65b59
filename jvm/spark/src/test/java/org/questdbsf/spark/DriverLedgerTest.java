package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the driver shows of several executors, which come and go. */
class DriverLedgerTest {
  private static final int METRICS = SfMetric.values().length;

  private final DriverLedger ledger = new DriverLedger(true);

  private static TaskReport report(
      String host,
      String executor,
      String health,
      SfMetric gauge,
      long value,
      List<TaskReport.Part> parts,
      List<LaneReport> adopted) {
    long[] gauges = new long[METRICS];
    gauges[gauge.ordinal()] = value;
    return new TaskReport(
        host,
        executor,
        parts,
        0,
        0,
        0,
        List.of(),
        adopted,
        new long[METRICS],
        gauges,
        health,
        List.of());
  }

  private static TaskReport said(String host, String executor, SfMetric gauge, long value) {
    return report(host, executor, "ok", gauge, value, List.of(), List.of());
  }

  private static TaskReport healthy(String executor, String health) {
    return report("h", executor, health, SfMetric.UNACKED_FRAMES, 1, List.of(), List.of());
  }

  /** The executor that adopts a slot may be older than the one that filled it. */
  @Test
  void anAdoptedSlotHoldsNothingBackWhoeverAdoptedIt() {
    long filled = Lane.nextIncarnation();
    List<TaskReport.Part> parts = List.of(new TaskReport.Part("/sf/a", filled, 9, 100));
    ledger.take(report("h", "2", "ok", SfMetric.UNACKED_FRAMES, 0, parts, List.of()));
    assertEquals(100, ledger.undeliveredRows());
    List<LaneReport> adopted = List.of(new LaneReport("/sf/a", Lane.nextIncarnation(), 9, 9, 0, 0));
    ledger.take(report("h", "1", "ok", SfMetric.UNACKED_FRAMES, 0, List.of(), adopted));
    assertEquals(0, ledger.undeliveredRows());
  }

  /** Each JVM counts on from the clock of the host, not from its own start. */
  @Test
  void incarnationsFollowTheClock() {
    for (int i = 0; i < 3; i++) {
      long now = System.currentTimeMillis() << 16;
      long one = Lane.nextIncarnation();
      assertTrue(one >= now, one + " is older than the lanes of others, " + now);
      assertTrue(Lane.nextIncarnation() > one);
    }
  }

  @Test
  void aSlotThatTwoExecutorsOfAHostSeeCountsOnce() {
    for (SfMetric metric : List.of(SfMetric.FAILED_SLOTS, SfMetric.STRANDED_SLOTS)) {
      ledger.take(said("one", "1", metric, 2));
      ledger.take(said("one", "2", metric, 2));
      ledger.take(said("two", "3", metric, 1));
      assertEquals(3, ledger.value(metric));
    }
    ledger.take(said("one", "1", SfMetric.UNACKED_FRAMES, 2));
    ledger.take(said("one", "2", SfMetric.UNACKED_FRAMES, 2));
    assertEquals(4, ledger.value(SfMetric.UNACKED_FRAMES), "lanes are each executor's own");
  }

  @Test
  void theWorstExecutorTellsTheHealth() {
    assertEquals("ok", ledger.health());
    ledger.take(healthy("1", "unanswered since 12:00"));
    ledger.take(healthy("2", "failed since 12:01"));
    ledger.take(healthy("3", "reconnecting since 12:02"));
    ledger.take(healthy("4", "ok"));
    assertEquals("failed since 12:01 (executor 2)", ledger.health());
  }

  @Test
  void anExecutorThatIsGoneLeavesItsCountersOnly() {
    ledger.take(healthy("1", "reconnecting since 12:02"));
    ledger.take(healthy("2", "ok"));
    ledger.gone("1");
    assertEquals("ok", ledger.health());
    assertEquals(1, ledger.value(SfMetric.UNACKED_FRAMES));
  }
}
