package org.questdbsf.spark;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.Sender;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SenderCounters;
import org.questdbsf.sender.SlotTarget;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.slot.Slot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One sender with its ring, lent to one task at a time. Outlives tasks: the next one goes on with
 * its connection, its blocks and its dictionary. Used by its borrower; {@link #report}, {@link
 * #totals} and the state may be read by any thread.
 */
final class Lane {
  private static final AtomicLong INCARNATIONS = new AtomicLong();

  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** What only an operator can mend. */
  private static final Set<ErrorCode> REFUSED =
      EnumSet.of(ErrorCode.SERVER_REJECTED, ErrorCode.POISON_FRAME);

  /** Tables after which a lane is replaced; with those of one more task a connection is full. */
  private static final int MANY_TABLES = TaskRows.CONNECTION_TABLES - TaskRows.MAX_TABLES;

  private final LaneSettings settings;
  private final SenderConfig config;
  private final Sender sender;
  private final TableCheck check;
  private final Slot slot;
  private final FrameLog frames;
  private final String place;
  private final long incarnation = nextIncarnation();
  private final Map<String, RowEncoder.Binding> bindings = new HashMap<>();

  /** A number above that of every lane that began before this call, in any process of the host. */
  static long nextIncarnation() {
    return INCARNATIONS.updateAndGet(last -> Math.max(last + 1, System.currentTimeMillis() << 16));
  }

  /** When it was given back, by {@code System.nanoTime()}; guarded by the pool. */
  private long idleSince;

  /**
   * A new lane.
   *
   * @param slot the slot that the sender appends to, or null in memory
   * @param frames to be filled by the borrowers
   */
  Lane(
      LaneSettings settings,
      SenderConfig config,
      Sender sender,
      TableCheck check,
      Slot slot,
      FrameLog frames) {
    this.settings = settings;
    this.config = config;
    this.sender = sender;
    this.check = check;
    this.slot = slot;
    this.frames = frames;
    this.place = slot == null ? sender.name() : slot.directory().toString();
  }

  Sender sender() {
    return sender;
  }

  /** Which rows are in which frames. */
  FrameLog frames() {
    return frames;
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
      if (settings.plan().table() == null) {
        sender.noteTables(check.required()); // which tables there are is known from the rows only
      }
      ColumnPlan designated = settings.plan().designated();
      DesignatedRange range =
          designated == null
              ? null
              : new DesignatedRange(
                  designated.target().type(), check.ttlFloor(table), settings.ttlFloorMicros());
      binding = encoder.bind(sender.newBlock(table), range);
      bindings.put(table, binding);
    }
    return binding;
  }

  /** What {@code .target} of a slot says. */
  static SlotTarget target(SenderConfig config, TableCheck check) {
    return SlotTarget.of(config, check.required(), "questdb-sf-spark");
  }

  Iterable<RowEncoder.Binding> bindings() {
    return bindings.values();
  }

  /** Forgets rows that were not published. */
  void clearBlocks() {
    bindings.values().forEach(binding -> binding.block().clear());
  }

  /**
   * Ends a lane whose sender has failed, and says so in its slot before the lock goes: a refused
   * frame sets the slot aside for an operator, anything else leaves a note and is tried again by
   * the adopter. Not for a task's thread.
   */
  void bury() {
    SfException error = terminal();
    try {
      if (slot != null && error != null) {
        if (REFUSED.contains(error.code())) {
          slot.writeFailed(error.getMessage());
        } else {
          slot.writeLastError(error.getMessage());
        }
      }
    } finally {
      end(); // also where the disk does not take the note: the lock and the budget are for others
    }
  }

  /** Ends the lane; what is not acknowledged stays in its slot. */
  void end() {
    try {
      sender.close();
    } catch (SfException e) {
      LOG.debug("{} ended with what was reported before.", this, e);
    }
  }

  /** What ended the sender, or null. */
  SfException terminal() {
    try {
      sender.checkError();
      return null;
    } catch (SfException e) {
      return e;
    }
  }

  boolean failed() {
    return sender.terminalError().isPresent();
  }

  /** Whether it should take no more tasks: it has too many symbols, or blocks of many tables. */
  boolean mustRetire() {
    return sender.mustRetire() || bindings.size() > MANY_TABLES;
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
    long published = sender.publishedFsn();
    return new LaneReport(
        place,
        incarnation,
        published,
        acked,
        sender.counters().unackedBytes(),
        sender.oldestUnackedMillis());
  }

  long incarnation() {
    return incarnation;
  }

  /** Adds what this lane counted to totals by ordinal of {@link SfMetric}; cheap. */
  void addTo(long[] totals) {
    SenderCounters counts = sender.counters();
    add(totals, SfMetric.FRAMES_WRITTEN, counts.framesWritten());
    add(totals, SfMetric.FRAMES_SENT, counts.framesSent() - counts.framesReplayed());
    add(totals, SfMetric.FRAMES_ACKED, counts.framesAcked());
    add(totals, SfMetric.FRAMES_REPLAYED, counts.framesReplayed());
    add(totals, SfMetric.FRAMES_MISSING, counts.framesMissing());
    add(totals, SfMetric.ACKS_REJECTED, counts.acksRejected());
    add(totals, SfMetric.RECONNECT_ATTEMPTS, counts.reconnectAttempts());
    add(totals, SfMetric.RECONNECTS_SUCCEEDED, counts.reconnectsSucceeded());
    add(totals, SfMetric.SERVER_ERRORS, counts.serverErrors());
    add(totals, SfMetric.ROWS_DROPPED, counts.rowsDropped());
    add(totals, SfMetric.BACKPRESSURE_STALLS, sender.backpressureStalls());
    add(totals, SfMetric.ERROR_NOTIFICATIONS_DROPPED, counts.errorNotificationsDropped());
  }

  private static void add(long[] totals, SfMetric metric, long count) {
    totals[metric.ordinal()] += count;
  }

  /**
   * Brings gauges by ordinal of {@link SfMetric} up to date with this lane, and adds its tables
   * that are suspended.
   */
  void gauge(long[] gauges, Set<String> suspendedTables) {
    suspendedTables.addAll(check.suspendedTables());
    LaneReport report = report();
    SenderCounters counts = sender.counters();
    add(gauges, SfMetric.UNACKED_FRAMES, report.unackedFrames());
    add(gauges, SfMetric.UNACKED_BYTES, report.unackedBytes());
    max(gauges, SfMetric.OLDEST_UNACKED_MILLIS, report.oldestUnackedMillis());
    max(gauges, SfMetric.ACK_LATENCY_P50_MILLIS, counts.ackLatencyP50Millis());
    max(gauges, SfMetric.ACK_LATENCY_P99_MILLIS, counts.ackLatencyP99Millis());
    max(gauges, SfMetric.ACK_LATENCY_MAX_MILLIS, counts.ackLatencyMaxMillis());
  }

  private static void max(long[] gauges, SfMetric metric, long value) {
    gauges[metric.ordinal()] = Math.max(gauges[metric.ordinal()], value);
  }

  @Override
  public String toString() {
    return "Lane[" + place + "]";
  }
}
