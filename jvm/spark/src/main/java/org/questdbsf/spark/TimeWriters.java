package org.questdbsf.spark;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.questdbsf.qwp.QwpType;

/**
 * Writes times. Spark's Timestamp is microseconds since 1970 UTC and goes through untouched; no
 * session zone is looked at anywhere. TimestampNTZ is a wall clock in {@code ntz_zone}.
 */
final class TimeWriters {
  private static final long NANOS_IN_MICRO = 1000;
  private static final long MICROS_IN_MILLI = 1000;
  private static final long MICROS_IN_DAY = 86_400_000_000L;
  private static final long MICROS_IN_SECOND = 1_000_000;

  private TimeWriters() {}

  /** Reads a time in the unit that {@link #of} fixed. */
  @FunctionalInterface
  interface TimeReader {
    long read(SpecializedGetters row, int ordinal);
  }

  static FieldWriter of(ColumnPlan column, SfOptions options) {
    SourceKind kind = SourceKind.of(column.source());
    if (column.target().type() == QwpType.LONG) {
      // Spark keeps a Time in nanoseconds, a DayTimeInterval in microseconds.
      return kind == SourceKind.TIME
          ? (row, i, out) -> out.putLong(whole(row.getLong(i), NANOS_IN_MICRO, "microseconds"))
          : (row, i, out) -> out.putLong(notSentinel(row.getLong(i)));
    }
    TimeReader reader = reader(column, options);
    if (options.is(SfOption.SENTINEL_VALUES, "null") && kind == SourceKind.LONG) {
      return (row, i, out) -> {
        if (row.getLong(i) != Long.MIN_VALUE) {
          out.putLong(reader.read(row, i));
        }
      };
    }
    return (row, i, out) -> out.putLong(reader.read(row, i));
  }

  /** Reads a time in the unit of the column's target: micro-, nano- or milliseconds. */
  static TimeReader reader(ColumnPlan column, SfOptions options) {
    QwpType target = column.target().type();
    SourceKind kind = SourceKind.of(column.source());
    if (kind == SourceKind.LONG && options.is(SfOption.TIMESTAMP_UNIT, "ns")) {
      return switch (target) {
        case TIMESTAMP_NANOS -> (row, i) -> notSentinel(row.getLong(i));
        case DATE ->
            (row, i) ->
                whole(row.getLong(i), NANOS_IN_MICRO * MICROS_IN_MILLI, "milliseconds of DATE");
        default ->
            (row, i) -> whole(row.getLong(i), NANOS_IN_MICRO, "the microseconds of TIMESTAMP");
      };
    }
    TimeReader micros = micros(kind, options);
    return switch (target) {
      case TIMESTAMP_NANOS ->
          (row, i) -> scaled(micros.read(row, i), NANOS_IN_MICRO, "nanoseconds");
      case DATE -> (row, i) -> whole(micros.read(row, i), MICROS_IN_MILLI, "milliseconds of DATE");
      default -> micros;
    };
  }

  private static TimeReader micros(SourceKind kind, SfOptions options) {
    return switch (kind) {
      case DATE -> (row, i) -> scaled(row.getInt(i), MICROS_IN_DAY, "microseconds");
      case TIMESTAMP_NTZ -> wallClock(ZoneId.of(options.word(SfOption.NTZ_ZONE)));
      case LONG ->
          switch (options.word(SfOption.TIMESTAMP_UNIT)) {
            case "s" -> (row, i) -> scaled(row.getLong(i), MICROS_IN_SECOND, "microseconds");
            case "ms" -> (row, i) -> scaled(row.getLong(i), MICROS_IN_MILLI, "microseconds");
            default -> (row, i) -> notSentinel(row.getLong(i));
          };
      default -> (row, i) -> notSentinel(row.getLong(i));
    };
  }

  private static TimeReader wallClock(ZoneId zone) {
    if (zone.getRules().isFixedOffset()) {
      long offset = zone.getRules().getOffset(Instant.EPOCH).getTotalSeconds() * MICROS_IN_SECOND;
      return (row, i) -> minus(notSentinel(row.getLong(i)), offset);
    }
    return (row, i) -> toInstant(notSentinel(row.getLong(i)), zone);
  }

  private static long toInstant(long micros, ZoneId zone) {
    long seconds = Math.floorDiv(micros, MICROS_IN_SECOND);
    LocalDateTime wall = LocalDateTime.ofEpochSecond(seconds, 0, ZoneOffset.UTC);
    List<ZoneOffset> offsets = zone.getRules().getValidOffsets(wall);
    if (offsets.isEmpty()) {
      throw FieldWriters.invalid(
          "wall-clock time "
              + wall
              + " does not exist in "
              + zone
              + ", where clocks were put forward over it");
    }
    return minus(micros, offsets.get(0).getTotalSeconds() * MICROS_IN_SECOND);
  }

  private static long minus(long micros, long offset) {
    long difference = micros - offset;
    if (((micros ^ offset) & (micros ^ difference)) < 0 || difference == Long.MIN_VALUE) {
      throw FieldWriters.invalid("wall-clock time " + micros + " is out of range in microseconds");
    }
    return difference;
  }

  private static long notSentinel(long value) {
    if (value == Long.MIN_VALUE) {
      throw FieldWriters.sentinel(value, "time");
    }
    return value;
  }

  private static long scaled(long value, long factor, String unit) {
    long scaled = value * factor;
    if (Math.multiplyHigh(value, factor) != scaled >> 63 || scaled == Long.MIN_VALUE) {
      throw FieldWriters.invalid("time " + value + " is out of range in " + unit);
    }
    return scaled;
  }

  private static long whole(long value, long divisor, String unit) {
    if (value % divisor != 0) {
      throw FieldWriters.invalid("time " + value + " has more digits than " + unit);
    }
    return value / divisor;
  }
}
