package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class TtlFloorTest {
  private static final Instant NOW = Instant.parse("2026-03-31T12:00:00.000001Z");

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  private static long floor(int value, String unit, Instant newest) {
    TtlFloor floor = new TtlFloor();
    floor.found(value, unit, newest == null ? TtlFloor.NONE : micros(newest));
    return floor.micros(micros(NOW));
  }

  @Test
  void countsFromTheEarlierOfClockAndNewestRow() {
    Instant old = Instant.parse("2013-01-10T00:00:00Z");
    assertEquals(micros(Instant.parse("2013-01-09T22:00:00Z")), floor(2, "HOUR", old));
    Instant future = NOW.plus(100, ChronoUnit.HOURS);
    assertEquals(micros(NOW.minus(2, ChronoUnit.HOURS)), floor(2, "HOUR", future));
  }

  @Test
  void unitsAreThoseOfTheCalendar() {
    assertEquals(micros(NOW.minus(3, ChronoUnit.DAYS)), floor(3, "DAY", NOW));
    assertEquals(micros(NOW.minus(14, ChronoUnit.DAYS)), floor(2, "WEEK", NOW));
    assertEquals(micros(Instant.parse("2026-02-28T12:00:00.000001Z")), floor(1, "MONTH", NOW));
    assertEquals(micros(Instant.parse("2025-03-31T12:00:00.000001Z")), floor(1, "YEAR", NOW));
  }

  @Test
  void withoutTtlOrRowsNothingIsTooOld() {
    assertEquals(TtlFloor.NONE, floor(0, "HOUR", NOW));
    assertEquals(TtlFloor.NONE, floor(2, "HOUR", null));
    assertFalse(new TtlFloor().isSet());
    assertEquals(TtlFloor.NONE, new TtlFloor().micros(micros(NOW)));
  }

  @Test
  void rowsWrittenRaiseIt() {
    TtlFloor floor = new TtlFloor();
    floor.found(1, "HOUR", TtlFloor.NONE);
    floor.observe(micros(Instant.parse("2013-01-01T10:00:00Z")));
    floor.observe(micros(Instant.parse("2013-01-01T08:00:00Z")));
    assertEquals(micros(Instant.parse("2013-01-01T09:00:00Z")), floor.micros(micros(NOW)));
    floor.found(1, "HOUR", micros(Instant.parse("2012-01-01T00:00:00Z")));
    assertEquals(micros(Instant.parse("2013-01-01T09:00:00Z")), floor.micros(micros(NOW)));
    floor.forget();
    assertEquals(TtlFloor.NONE, floor.micros(micros(NOW)));
  }

  @Test
  void worksBefore1970() {
    Instant old = Instant.parse("1969-12-31T23:59:59.999999Z");
    assertEquals(micros(old.minus(1, ChronoUnit.DAYS)), floor(1, "DAY", old));
  }
}
