package org.questdbsf.sender;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/**
 * The row being written by {@link Sender#table}: values by column, then {@link #at} or {@link
 * #atNow}. A sender has one row at a time, and this object is the same for all of them.
 *
 * <p>Columns that get no value are null in this row; a column set twice keeps its first value. A
 * null reference means null. Setters throw {@link SfException} with NAME_INVALID, TYPE_CONFLICT or
 * VALUE_INVALID; the row is then still begun, to be mended or cancelled.
 */
public final class Row {
  private final Sender sender;
  private final RowWriter writer;

  Row(Sender sender, RowWriter writer) {
    this.sender = sender;
    this.writer = writer;
  }

  /** A SYMBOL: a text of which there are few different ones. */
  public Row symbol(String column, CharSequence value) {
    return text(column, QwpType.SYMBOL, value);
  }

  /** A VARCHAR. */
  public Row stringColumn(String column, CharSequence value) {
    return text(column, QwpType.VARCHAR, value);
  }

  private Row text(String column, QwpType type, CharSequence value) {
    ColumnBuffer buffer = writer.column(column, type);
    if (value == null) {
      buffer.putNull();
    } else {
      buffer.putText(value);
    }
    return this;
  }

  /** A BOOLEAN; QuestDB has no null there: a row without a value is false. */
  public Row boolColumn(String column, boolean value) {
    writer.column(column, QwpType.BOOLEAN).putBoolean(value);
    return this;
  }

  /** A BYTE; a row without a value is 0. */
  public Row byteColumn(String column, byte value) {
    return integer(column, QwpType.BYTE, value);
  }

  /** A SHORT; a row without a value is 0. */
  public Row shortColumn(String column, short value) {
    return integer(column, QwpType.SHORT, value);
  }

  /** The smallest int is QuestDB's null and refused. */
  public Row intColumn(String column, int value) {
    return integer(column, QwpType.INT, value);
  }

  /**
   * A whole number, for a new column LONG. An existing column of another number type takes it as
   * long as the values fit: those beyond the range of BYTE, SHORT and INT, and beyond 2^53 in
   * DOUBLE, are refused with the table's check or by the server. The smallest long is QuestDB's
   * null and refused.
   */
  public Row longColumn(String column, long value) {
    writer.column(column, QwpType.LONG).putWholeNumber(value);
    return this;
  }

  /** A DATE, in milliseconds since 1970. */
  public Row dateColumn(String column, long millis) {
    return integer(column, QwpType.DATE, millis);
  }

  /** A CHAR; 0, which is QuestDB's null, and halves of surrogate pairs are refused. */
  public Row charColumn(String column, char value) {
    return integer(column, QwpType.CHAR, value);
  }

  /** An IPv4 address, first octet highest, 1 to 2^32 − 1. */
  public Row ipv4Column(String column, long address) {
    return integer(column, QwpType.IPV4, address);
  }

  private Row integer(String column, QwpType type, long value) {
    writer.column(column, type).putLong(value);
    return this;
  }

  /** A FLOAT; QuestDB reads NaN as null, and infinities too: those are refused. */
  public Row floatColumn(String column, float value) {
    writer.column(column, QwpType.FLOAT).putFloat(value);
    return this;
  }

  /** A DOUBLE; QuestDB reads NaN as null, and infinities too: those are refused. */
  public Row doubleColumn(String column, double value) {
    writer.column(column, QwpType.DOUBLE).putDouble(value);
    return this;
  }

  /** A DECIMAL of up to 76 digits. */
  public Row decimalColumn(String column, BigDecimal value) {
    ColumnBuffer buffer = writer.column(column, QwpType.DECIMAL256);
    if (value == null) {
      buffer.putNull();
    } else {
      buffer.putDecimal(value);
    }
    return this;
  }

  /** A UUID; 80000000-0000-0000-8000-000000000000 is QuestDB's null and refused. */
  public Row uuidColumn(String column, UUID value) {
    ColumnBuffer buffer = writer.column(column, QwpType.UUID);
    if (value == null) {
      buffer.putNull();
    } else {
      buffer.putUuid(value.getMostSignificantBits(), value.getLeastSignificantBits());
    }
    return this;
  }

  /** A LONG256, lowest 64 bits first. */
  public Row long256Column(String column, long l0, long l1, long l2, long l3) {
    writer.column(column, QwpType.LONG256).putLong256(l0, l1, l2, l3);
    return this;
  }

  /** A GEOHASH of 1 to 60 bits. */
  public Row geohashColumn(String column, long bits, int precisionBits) {
    writer.column(column, QwpType.GEOHASH).putGeohash(bits, precisionBits);
    return this;
  }

  /** A BINARY; the bytes are copied. */
  public Row binaryColumn(String column, byte[] value) {
    ColumnBuffer buffer = writer.column(column, QwpType.BINARY);
    if (value == null) {
      buffer.putNull();
    } else {
      buffer.putBytes(value, 0, value.length);
    }
    return this;
  }

  /** An array of doubles in row-major order; infinities are refused. */
  public Row doubleArrayColumn(String column, double[] flat, int... shape) {
    writer.column(column, QwpType.DOUBLE_ARRAY).putDoubleArray(flat, shape);
    return this;
  }

  /** A TIMESTAMP, or a TIMESTAMP_NANOS where the unit is nanoseconds. */
  public Row timestampColumn(String column, long value, ChronoUnit unit) {
    QwpType type = timestampType(unit);
    writer.column(column, type).putLong(scaled(value, unit));
    return this;
  }

  /**
   * A TIMESTAMP in microseconds; a part below is cut off, as {@code Instant.now()} has it on most
   * systems. Give nanoseconds to {@link #timestampColumn(String, long, ChronoUnit)} to keep them.
   */
  public Row timestampColumn(String column, Instant value) {
    if (value == null) {
      writer.column(column, QwpType.TIMESTAMP).putNull();
      return this;
    }
    return timestampColumn(column, micros(value), ChronoUnit.MICROS);
  }

  /** Forgets this row. */
  public void cancel() {
    writer.cancel();
  }

  /**
   * Ends the row with its designated timestamp, and flushes where that is due. When the flush
   * throws the row is kept: do not write it again. A time before 1970 or after 9999 (nanoseconds:
   * after 2261) is refused, and the row is then still begun.
   */
  public void at(long timestamp, ChronoUnit unit) throws InterruptedException {
    writer.designated(timestampType(unit)).putLong(scaled(timestamp, unit));
    sender.endRow();
  }

  /** As {@link #at(long, ChronoUnit)}, in microseconds; a part below is cut off. */
  public void at(Instant timestamp) throws InterruptedException {
    at(micros(timestamp), ChronoUnit.MICROS);
  }

  /** Ends the row; the server gives it its own time. */
  public void atNow() throws InterruptedException {
    sender.endRow();
  }

  private static QwpType timestampType(ChronoUnit unit) {
    return unit == ChronoUnit.NANOS ? QwpType.TIMESTAMP_NANOS : QwpType.TIMESTAMP;
  }

  private static long scaled(long value, ChronoUnit unit) {
    try {
      return switch (unit) {
        case NANOS, MICROS -> value;
        case MILLIS -> Math.multiplyExact(value, 1_000L);
        case SECONDS -> Math.multiplyExact(value, 1_000_000L);
        default ->
            throw new SfException(
                ErrorCode.VALUE_INVALID,
                "a timestamp in " + unit + "; give nanos, micros, millis or seconds");
      };
    } catch (ArithmeticException e) {
      throw new SfException(
          ErrorCode.VALUE_INVALID, value + " " + unit + " is no 64-bit time in microseconds", e);
    }
  }

  private static long micros(Instant time) {
    try {
      return Math.addExact(
          Math.multiplyExact(time.getEpochSecond(), 1_000_000L), time.getNano() / 1_000);
    } catch (ArithmeticException e) {
      throw new SfException(
          ErrorCode.VALUE_INVALID, time + " is no 64-bit time in microseconds", e);
    }
  }
}
