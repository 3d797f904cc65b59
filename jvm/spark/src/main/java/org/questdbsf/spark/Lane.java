package org.questdbsf.spark;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.Sender;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SlotTarget;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.slot.Slot;

/**
 * One sender with its ring, lent to one task at a time. Outlives tasks: the next one goes on with
 * its connection, its blocks and its dictionary. Used by its borrower; {@link #report}, {@link
 * #totals} and the state may be read by any thread.
 */
final class Lane {
  private static final AtomicLong INCARNATIONS = new AtomicLong(System.currentTimeMillis() << 16);

  private final LaneSettings settings;
  private final SenderConfig config;
  private final Sender sender;
  private final TableCheck check;
  private final Slot slot;
  private final String place;
  private final long incarnation = INCARNATIONS.incrementAndGet();
  private final Map<String, RowEncoder.Binding> bindings = new HashMap<>();

  /** When it was given back, by {@code System.nanoTime()}; guarded by the pool. */
  private long idleSince;

  /**
   * A new lane.
   *
   * @param slot the slot that the sender appends to, or null in memory
   */
  Lane(LaneSettings settings, SenderConfig config, Sender sender, TableCheck check, Slot slot) {
    this.settings = settings;
    this.config = config;
    this.sender = sender;
    this.check = check;
    this.slot = slot;
    this.place = slot == null ? sender.name() : slot.directory().toString();
  }

  Sender sender() {
    return sender;
  }

  /** Directory of the slot, or the name of the lane in memory. */
  String place() {
    return place;
  }

  /**
   * The columns of a table in this lane, made at first use.
   *
   * @throws SfException NAME_INVALID
   */
  RowEncoder.Binding binding(String table, RowEncoder encoder) {
    RowEncoder.Binding binding = bindings.get(table);
    if (binding == null) {
      check.require(settings.table(table));
      if (slot != null && bindings.size() > 0) {
        slot.writeTarget(target(config, check));
      }
      ColumnPlan designated = settings.plan().designated();
      DesignatedRange range =
          designated == null
              ? null
              : new DesignatedRange(designated.target().type(), check.ttlFloor(table));
      binding = encoder.bind(sender.newBlock(table), range);
      bindings.put(table, binding);
    }
    return binding;
  }

  /** What {@code .target} of a slot says. */
  static Map<String, String> target(SenderConfig config, TableCheck check) {
    return SlotTarget.of(config, check.required(), "questdb-sf-spark").toMap();
  }

  Iterable<RowEncoder.Binding> bindings() {
    return bindings.values();
  }

  /** Forgets rows that were not published. */
  void clearBlocks() {
    bindings.values().forEach(binding -> binding.block().clear());
  }

  boolean failed() {
    return sender.terminalError().isPresent();
  }

  /** Whether everything published is acknowledged. */
  boolean drained() {
    return sender.ackedFsn() >= sender.publishedFsn();
  }

  void idleFrom(long nanos) {
    idleSince = nanos;
  }

  long idleNanos(long now) {
    return now - idleSince;
  }

  LaneReport report() {
    long acked = sender.ackedFsn(); // before published, so that it is never above
    return new LaneReport(
        place,
        incarnation,
        sender.publishedFsn(),
        acked,
        sender.unackedBytes(),
        sender.oldestUnackedMillis());
  }

  long incarnation() {
    return incarnation;
  }

  /** Adds what this lane counted to totals by ordinal of {@link SfMetric}. */
  void addTo(long[] totals) {
    Map<String, Long> counts = sender.counters().snapshot();
    for (SfMetric metric : SfMetric.values()) {
      Long count = counts.get(metric.key());
      if (count != null && metric.kind() == SfMetric.Kind.COUNTER) {
        totals[metric.ordinal()] += count;
      }
    }
    totals[SfMetric.BACKPRESSURE_STALLS.ordinal()] += sender.backpressureStalls();
  }

  @Override
  public String toString() {
    return "Lane[" + place + "]";
  }
}
