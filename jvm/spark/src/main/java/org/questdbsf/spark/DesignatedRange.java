package org.questdbsf.spark;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.TtlFloor;

/**
 * Which designated timestamps a table takes. QuestDB refuses the whole frame of a time before 1970
 * or after 9999, and acknowledges and then discards rows older than the table's TTL, so all of them
 * are refused here, by row.
 */
final class DesignatedRange {
  private static final long NANOS_IN_MICRO = 1000;
  private static final long MICROS_IN_SECOND = 1_000_000;

  /** Rows after which the clock and other lanes' rows are looked at anew. */
  private static final int REFRESH_ROWS = 1024;

  /** By how much less than the newest row the floor may rise, since months differ. */
  private static final long UNEVEN_MICROS = TimeUnit.DAYS.toMicros(4);

  private final long unitsInMicro;
  private final long latest;
  private final TtlFloor ttl;
  private long newest = Long.MIN_VALUE;
  private final long floorAtStart;
  private long floor;
  private boolean known;
  private long newestOfFloor;
  private int untilRefresh;

  /**
   * For one table.
   *
   * @param type TIMESTAMP or TIMESTAMP_NANOS
   * @param ttl the table's, as the lane's checks find it
   * @param floorAtStart what holds until the first of them, {@code TtlFloor.NONE} for nothing
   */
  DesignatedRange(QwpType type, TtlFloor ttl, long floorAtStart) {
    this.floor = floorAtStart;
    this.floorAtStart = floorAtStart;
    this.unitsInMicro = type == QwpType.TIMESTAMP_NANOS ? NANOS_IN_MICRO : 1;
    this.latest =
        type == QwpType.TIMESTAMP_NANOS
            ? QwpLimits.MAX_DESIGNATED_NANOS
            : QwpLimits.MAX_DESIGNATED_MICROS;
    this.ttl = ttl;
  }

  /**
   * Checks one time in the column's unit.
   *
   * @throws org.questdbsf.error.SfException VALUE_INVALID
   */
  void check(long time) {
    if (time < 0) {
      throw FieldWriters.invalid(
          "designated timestamp " + shown(time) + " is before 1970, which QuestDB refuses");
    }
    long micros = time / unitsInMicro;
    if (time > latest) {
      throw FieldWriters.invalid(
          "designated timestamp "
              + shown(time)
              + " is after "
              + shown(latest)
              + ", the last that QuestDB can store in this column");
    }
    newest = Math.max(newest, micros);
    // A TTL is known only once the table was looked at, perhaps long after the lane began.
    if (--untilRefresh <= 0 || known != ttl.isSet() || floorMayReach(micros)) {
      refresh();
    }
    if (micros < floor) {
      throw FieldWriters.invalid(
          "designated timestamp "
              + shown(time)
              + " is older than the table's TTL keeps ("
              + shown(floor * unitsInMicro)
              + "): the server would acknowledge the row and discard it. Filter such rows, or raise"
              + " the TTL");
    }
  }

  /** Whether the rows since the last look may have lifted the floor above this one. */
  private boolean floorMayReach(long micros) {
    return known
        && newest > newestOfFloor
        && micros < newest
        && micros < floor + (newest - newestOfFloor) + UNEVEN_MICROS;
  }

  private void refresh() {
    untilRefresh = REFRESH_ROWS;
    newestOfFloor = newest;
    ttl.observe(newest);
    long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
    known = ttl.isSet();
    floor = known ? ttl.micros(now) : floorAtStart;
  }

  private Instant shown(long time) {
    long micros = time / unitsInMicro;
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, MICROS_IN_SECOND),
        Math.floorMod(micros, MICROS_IN_SECOND) * NANOS_IN_MICRO);
  }
}
