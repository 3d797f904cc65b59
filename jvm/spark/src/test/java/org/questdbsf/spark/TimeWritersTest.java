package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.qwp.DecodedColumn;

/** Times of every kind, written and read back. */
class TimeWritersTest {
  @Test
  void timesInUtcWhateverTheSession() throws Exception {
    Map<String, DecodedColumn> read =
        new Trip(
                "d date, t timestamp, n timestamp_ntz, dd date, dt timestamp, tn timestamp",
                "column_types",
                "dd DATE, dt DATE, tn TIMESTAMP_NS")
            .add(-1, 1_234_567L, 1_234_567L, 2, 5_000L, 7L)
            .read();
    assertEquals(-86_400_000_000L, read.get("d").getLong(1));
    assertEquals(1_234_567L, read.get("t").getLong(1));
    assertEquals(1_234_567L, read.get("n").getLong(1));
    assertEquals(172_800_000L, read.get("dd").getLong(1));
    assertEquals(5L, read.get("dt").getLong(1));
    assertEquals(7_000L, read.get("tn").getLong(1));
    new Trip("t timestamp", "column_types", "t DATE").refuses(1L, "milliseconds");
    new Trip("t timestamp", "column_types", "t TIMESTAMP_NS")
        .refuses(Long.MAX_VALUE / 100, "nanoseconds");
  }

  @Test
  void longsAsTimes() throws Exception {
    for (String[] unit :
        new String[][] {{"s", "1"}, {"ms", "1000"}, {"us", "1000000"}, {"ns", "1000000000"}}) {
      Map<String, DecodedColumn> read =
          new Trip(
                  "l bigint, x int",
                  "timestamp",
                  "l",
                  "timestamp_unit",
                  unit[0],
                  "column_types",
                  "l TIMESTAMP")
              .add(Long.parseLong(unit[1]), 1)
              .read();
      assertEquals(1_000_000, read.get("").getLong(1), unit[0]);
    }
    Trip nanos =
        new Trip(
            "l bigint", "timestamp", "l", "timestamp_unit", "ns", "column_types", "l TIMESTAMP");
    nanos.refuses(1L, "microseconds");
    new Trip("l bigint", "timestamp", "l", "timestamp_unit", "s")
        .refuses(Long.MAX_VALUE, "out of range");
  }

  @Test
  void wallClocks() throws Exception {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    TreeSet<String> zones = new TreeSet<>(ZoneId.getAvailableZoneIds());
    for (String zone : zones) {
      Trip trip = new Trip("n timestamp_ntz", "ntz_zone", zone);
      LocalDateTime wall =
          LocalDateTime.ofEpochSecond(
              random.nextLong(-15_000_000_000L, 7_000_000_000L), 123_000, ZoneOffset.UTC);
      long micros = wall.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + 123;
      boolean gap = ZoneId.of(zone).getRules().getValidOffsets(wall).isEmpty();
      if (!gap) {
        Instant instant = wall.atZone(ZoneId.of(zone)).toInstant();
        assertEquals(
            instant.getEpochSecond() * 1_000_000 + 123,
            trip.add(micros).readOne().getLong(0),
            zone + " " + wall + " seed " + seed);
      }
    }
    long inGap = LocalDateTime.parse("2024-03-31T02:30").toEpochSecond(ZoneOffset.UTC) * 1_000_000;
    new Trip("n timestamp_ntz", "ntz_zone", "Europe/Paris").refuses(inGap, "Europe/Paris");
    long twice = LocalDateTime.parse("2024-10-27T02:30").toEpochSecond(ZoneOffset.UTC) * 1_000_000;
    assertEquals(
        twice - 7200L * 1_000_000,
        new Trip("n timestamp_ntz", "ntz_zone", "Europe/Paris").add(twice).readOne().getLong(0));
  }

  @Test
  void designatedTimestamp() {
    Trip trip = new Trip("x int, ts timestamp", "timestamp", "ts");
    trip.add(1, 0L);
    Errors.of(ErrorCode.VALUE_INVALID, () -> trip.add(1, null), "'ts'", "null");
    Errors.of(ErrorCode.VALUE_INVALID, () -> trip.add(1, -1L), "1969-12-31", "1970");
    assertEquals(2, trip.block.rows());
  }

  /** A bad value in the middle must not shift the columns of later rows. */
  @Test
  void timesThatOverflowAreRefused() {
    new Trip("d date").refuses(Integer.MAX_VALUE, "out of range");
    new Trip("d date").refuses(Integer.MIN_VALUE, "out of range");
    new Trip("n timestamp_ntz", "ntz_zone", "+14:00").refuses(Long.MIN_VALUE + 5, "out of range");
    new Trip("n timestamp_ntz", "ntz_zone", "-14:00").refuses(Long.MAX_VALUE - 5, "out of range");
  }
}
