package org.questdbsf.spark;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.questdbsf.sender.DeadLetterSink;
import org.questdbsf.sender.DrainListener;
import org.questdbsf.sender.DrainerPool;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SlotTarget;

/** Sends the slots that ended processes left in {@code sf_dir}, and remembers which. */
final class Adopter implements DrainListener {
  private static final int MAX_REMEMBERED = 256;

  private final Path sfDir;
  private final DrainerPool drainers;
  private final ArrayDeque<LaneReport> drained = new ArrayDeque<>();

  /** Starts at once. */
  Adopter(SenderConfig config, DeadLetterSink deadLetters) {
    this.sfDir = config.sfDir().orElseThrow().toAbsolutePath().normalize();
    DrainerPool.Builder builder =
        DrainerPool.builder(config, SlotTarget.of(config, List.of(), "questdb-sf-spark"))
            .listener(this);
    if (deadLetters != null) {
      builder.deadLetters(deadLetters);
    }
    this.drainers = builder.start();
  }

  @Override
  public void drained(String slot, long publishedFsn) {
    synchronized (drained) {
      if (drained.size() >= MAX_REMEMBERED) {
        drained.removeFirst();
      }
      drained.addLast(
          new LaneReport(
              sfDir.resolve(slot).toString(),
              Lane.nextIncarnation(),
              publishedFsn,
              publishedFsn,
              0,
              0));
    }
  }

  /** Slots sent to the end, with an incarnation above that of the lanes that filled them. */
  List<LaneReport> drained() {
    synchronized (drained) {
      return new ArrayList<>(drained);
    }
  }

  /** Adds counters by ordinal of {@link SfMetric}. */
  void addTo(long[] totals) {
    totals[SfMetric.DRAINERS_SUCCEEDED.ordinal()] += drainers.succeeded();
    totals[SfMetric.DRAINERS_FAILED.ordinal()] += drainers.failed();
  }

  /** Sets gauges by ordinal of {@link SfMetric}. */
  void gauge(long[] gauges) {
    gauges[SfMetric.DRAINERS_ACTIVE.ordinal()] += drainers.active();
    gauges[SfMetric.FAILED_SLOTS.ordinal()] += drainers.failedSlots();
    gauges[SfMetric.STRANDED_SLOTS.ordinal()] += drainers.strandedSlots();
  }
}
