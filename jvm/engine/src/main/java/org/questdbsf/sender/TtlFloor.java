package org.questdbsf.sender;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The age below which a table discards rows. The server counts a TTL from the earlier of the clock
 * and the newest row of the table (measured), so that a backfill into an old table is legal. Any
 * thread; times are microseconds since 1970.
 */
public final class TtlFloor {
  /** No row is below it. */
  public static final long NONE = Long.MIN_VALUE;

  private static final long MICROS = 1_000_000L;

  private final AtomicLong newest = new AtomicLong(NONE);
  private volatile int amount;
  private volatile ChronoUnit unit = ChronoUnit.HOURS;

  /**
   * Takes over what a check found.
   *
   * @param value TTL in units; 0: none
   * @param unitName HOUR, DAY, WEEK, MONTH or YEAR
   * @param newestMicros newest row of the table, or {@link #NONE}
   */
  void found(int value, String unitName, long newestMicros) {
    unit = ChronoUnit.valueOf(unitName.toUpperCase(Locale.ROOT) + "S");
    amount = value;
    observe(newestMicros);
  }

  /** Forgets the newest row: the table is a new one. */
  void forget() {
    newest.set(NONE);
  }

  /** Takes note of a row that was written. */
  public void observe(long micros) {
    if (micros > newest.get()) {
      newest.accumulateAndGet(micros, Math::max);
    }
  }

  /** Whether the table has a TTL at all. */
  public boolean isSet() {
    return amount > 0;
  }

  /** Rows before this time are discarded by the server; {@link #NONE} if none are. */
  public long micros(long nowMicros) {
    long last = newest.get();
    if (amount == 0 || last == NONE) {
      return NONE;
    }
    long from = Math.min(nowMicros, last);
    long seconds = Math.floorDiv(from, MICROS);
    ZonedDateTime floor = Instant.ofEpochSecond(seconds).atZone(ZoneOffset.UTC).minus(amount, unit);
    return floor.toEpochSecond() * MICROS + Math.floorMod(from, MICROS);
  }

  /** The TTL as people write it, or none. */
  @Override
  public String toString() {
    return amount == 0 ? "none" : amount + " " + unit.name();
  }
}
