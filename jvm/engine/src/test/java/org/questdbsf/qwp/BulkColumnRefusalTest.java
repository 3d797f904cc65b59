package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What cannot be filled in bulk is refused by row, and nothing beyond a buffer is read. */
class BulkColumnRefusalTest {
  private static BulkColumn column(QwpType type) {
    return new BulkColumn(new TableBlock("t", new SymbolDictionary(), 127).column("x", type));
  }

  private static SourceRows rows(int count) {
    return new SourceRows(null, 0, count, 1_000);
  }

  private static void refused(ErrorCode code, String part, Runnable job) {
    SfException refused = assertThrows(SfException.class, job::run);
    assertEquals(code, refused.code());
    assertTrue(refused.getMessage().contains(part), refused.getMessage());
  }

  @Test
  void whatQuestDbReadsAsNullIsRefusedByRow() {
    for (QwpType type : new QwpType[] {QwpType.LONG, QwpType.TIMESTAMP, QwpType.DATE}) {
      refused(
          ErrorCode.VALUE_INVALID,
          "row 1002: -9223372036854775808",
          () -> column(type).putFixed(rows(3), BulkBuffers.longs(1, 2, Long.MIN_VALUE)));
    }
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001",
        () -> column(QwpType.INT).putFixed(rows(2), BulkBuffers.ints(1, Integer.MIN_VALUE)));
    refused(
        ErrorCode.VALUE_INVALID,
        "0.0.0.0",
        () -> column(QwpType.IPV4).putFixed(rows(2), BulkBuffers.ints(1, 0)));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1000",
        () -> column(QwpType.UUID).putUuids(rows(1), BulkBuffers.longs(0x80L, 0x80L)));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1000",
        () ->
            column(QwpType.LONG256)
                .putFixed(
                    rows(1),
                    BulkBuffers.longs(
                        Long.MIN_VALUE, Long.MIN_VALUE, Long.MIN_VALUE, Long.MIN_VALUE)));
  }

  @Test
  void infinitiesAreRefusedByRow() {
    long infinity = Double.doubleToRawLongBits(Double.NEGATIVE_INFINITY);
    long one = Double.doubleToRawLongBits(1);
    long nan = 0x7FF0_0000_0000_0001L;
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1002: -Infinity",
        () -> column(QwpType.DOUBLE).putFixed(rows(3), BulkBuffers.longs(one, nan, infinity)));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: Infinity",
        () ->
            column(QwpType.FLOAT)
                .putFixed(
                    rows(2),
                    BulkBuffers.ints(1, Float.floatToRawIntBits(Float.POSITIVE_INFINITY))));
    SourceSpans spans =
        new SourceSpans(
            BulkBuffers.ints(0, 1, 3), false, 0, BulkBuffers.longs(one, nan, infinity), 8);
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: -Infinity",
        () ->
            column(QwpType.DOUBLE_ARRAY)
                .putDoubleArrays(rows(2), spans, new SourceRows(null, 0, 3, 0)));
    // Under a null it is no value.
    ByteBuffer validity = ByteBuffer.allocateDirect(1).put(0, (byte) 0b01);
    column(QwpType.DOUBLE)
        .putFixed(new SourceRows(validity, 0, 2, 0), BulkBuffers.longs(one, infinity));
  }

  @Test
  void designatedTimesThatQuestDbDoesNotTakeAreRefusedByRow() {
    for (QwpType type : new QwpType[] {QwpType.TIMESTAMP, QwpType.TIMESTAMP_NANOS}) {
      for (long time : new long[] {-1, Long.MAX_VALUE}) {
        refused(
            ErrorCode.VALUE_INVALID,
            "row 1001: " + time,
            () -> designated(type).putFixed(rows(2), BulkBuffers.longs(0, time)));
      }
      refused(
          ErrorCode.VALUE_INVALID,
          "row 1001: -1 is not between 0 and",
          () -> designated(type).putIntegers(rows(2), BulkBuffers.longs(0, -1), 8, true, 1_000));
    }
  }

  private static BulkColumn designated(QwpType type) {
    return new BulkColumn(new TableBlock("t", new SymbolDictionary(), 127).designated(type));
  }

  @Test
  void charsThatAreNoCharactersAreRefusedByRow() {
    for (int value : new int[] {0, 0xD800, 0x10000}) {
      refused(
          ErrorCode.VALUE_INVALID,
          "row 1001",
          () ->
              column(QwpType.CHAR).putIntegers(rows(2), BulkBuffers.ints('a', value), 4, true, 1));
    }
  }

  @Test
  void integersOutOfRangeAreRefusedByRow() {
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: 40000 is not between -32768 and 32767",
        () -> column(QwpType.SHORT).putIntegers(rows(2), BulkBuffers.ints(1, 40_000), 4, true, 1));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1000: 18446744073709551615",
        () -> column(QwpType.LONG).putIntegers(rows(1), BulkBuffers.longs(-1), 8, false, 1));
    refused(
        ErrorCode.VALUE_INVALID,
        "9223372036854776 is not between -9223372036854775 and 9223372036854775",
        () ->
            column(QwpType.TIMESTAMP)
                .putIntegers(rows(1), BulkBuffers.longs(9_223_372_036_854_776L), 8, true, 1_000));
    refused(
        ErrorCode.VALUE_INVALID,
        "is not between -9223372036854775 and",
        () ->
            column(QwpType.TIMESTAMP)
                .putIntegers(rows(1), BulkBuffers.longs(-9_223_372_036_854_776L), 8, true, 1_000));
  }

  @Test
  void aNullWhereThereIsNoneIsRefusedByRow() {
    ByteBuffer validity = ByteBuffer.allocateDirect(1).put(0, (byte) 0b101);
    SourceRows rows = new SourceRows(validity, 0, 3, 1_000);
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: null",
        () -> column(QwpType.BOOLEAN).putBits(rows, ByteBuffer.allocateDirect(1)));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: null",
        () -> column(QwpType.SHORT).putIntegers(rows, BulkBuffers.ints(1, 2, 3), 4, true, 1));
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001: null",
        () -> column(QwpType.TIMESTAMP).requireValues(rows));
  }

  @Test
  void textsThatAreNotUtf8AreRefusedByRow() {
    byte[][] bad = {
      {'a', 'b', (byte) 0xC3, (byte) 0xBC, 'c', (byte) 0xFF}, // not UTF-8 as a whole
      {'a', 'b', 'c', 'd', (byte) 0xC3, (byte) 0xBC} // cut within a character
    };
    int[][] offsets = {{0, 2, 4, 6}, {0, 2, 5, 6}};
    for (int i = 0; i < bad.length; i++) {
      ByteBuffer data = ByteBuffer.allocateDirect(6).put(bad[i]).flip();
      SourceSpans spans = new SourceSpans(BulkBuffers.ints(offsets[i]), false, 0, data, 1);
      String row = i == 0 ? "row 1002" : "row 1001";
      for (QwpType type : new QwpType[] {QwpType.VARCHAR, QwpType.SYMBOL}) {
        refused(ErrorCode.VALUE_INVALID, row, () -> column(type).putSpans(rows(3), spans));
      }
    }
  }

  @Test
  void damagedOffsetsAndIndexesAreRefusedByRow() {
    ByteBuffer data = ByteBuffer.allocateDirect(6);
    int[][] broken = {{0, 2, 1, 6}, {0, 2, 4, 7}, {-1, 2, 4, 6}, {0, Integer.MIN_VALUE, 4, 6}};
    for (int[] offsets : broken) {
      SourceSpans spans = new SourceSpans(BulkBuffers.ints(offsets), false, 0, data, 1);
      refused(
          ErrorCode.VALUE_INVALID,
          "damaged",
          () -> column(QwpType.VARCHAR).putSpans(rows(3), spans));
    }
    SourceSpans wide = new SourceSpans(BulkBuffers.longs(0, 1L << 33, 2), true, 0, data, 1);
    refused(
        ErrorCode.VALUE_INVALID, "damaged", () -> column(QwpType.BINARY).putSpans(rows(2), wide));
    SourceSpans texts = new SourceSpans(BulkBuffers.ints(0, 1), false, 0, data, 1);
    for (int index : new int[] {1, -1}) {
      SourceSymbols symbols =
          new SourceSymbols(BulkBuffers.ints(0, index), 4, texts, new SourceRows(null, 0, 1, 0));
      refused(
          ErrorCode.VALUE_INVALID,
          "row 1001: index " + index,
          () -> column(QwpType.SYMBOL).putSymbols(rows(2), symbols));
    }
  }

  @Test
  void buffersThatEndTooEarlyAreNotReadBeyond() {
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> column(QwpType.LONG).putFixed(rows(3), BulkBuffers.longs(1, 2)));
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> new SourceRows(ByteBuffer.allocateDirect(1), 0, 9, 0));
  }

  @Test
  void aNullElementOfAnArrayIsRefusedByRow() {
    SourceSpans spans =
        new SourceSpans(BulkBuffers.ints(0, 1, 3), false, 0, BulkBuffers.longs(0, 0, 0), 8);
    ByteBuffer validity = ByteBuffer.allocateDirect(1).put(0, (byte) 0b011);
    SourceRows elements = new SourceRows(validity, 0, 3, 0);
    refused(
        ErrorCode.VALUE_INVALID,
        "row 1001",
        () -> column(QwpType.DOUBLE_ARRAY).putDoubleArrays(rows(2), spans, elements));
  }

  @Test
  void aColumnGivenTwiceIsRefused() {
    TableBlock block = new TableBlock("t", new SymbolDictionary(), 127);
    new BulkColumn(block.column("x", QwpType.LONG)).putFixed(rows(1), BulkBuffers.longs(1));
    refused(
        ErrorCode.NAME_INVALID,
        "twice",
        () ->
            new BulkColumn(block.column("X", QwpType.LONG))
                .putFixed(rows(1), BulkBuffers.longs(2)));
  }

  @Test
  void aMethodThatDoesNotBelongToTheTypeIsRefused() {
    for (QwpType type : EnumSet.complementOf(EnumSet.of(QwpType.LONG_ARRAY))) {
      if (type != QwpType.BOOLEAN) {
        refused(
            ErrorCode.TYPE_CONFLICT, "x", () -> column(type).putBits(rows(0), BulkBuffers.longs()));
      }
      if (type != QwpType.UUID) {
        refused(
            ErrorCode.TYPE_CONFLICT,
            "x",
            () -> column(type).putUuids(rows(0), BulkBuffers.longs()));
      }
    }
    refused(
        ErrorCode.TYPE_CONFLICT,
        "x",
        () -> column(QwpType.VARCHAR).putFixed(rows(0), BulkBuffers.longs()));
    refused(
        ErrorCode.TYPE_CONFLICT,
        "x",
        () -> column(QwpType.DECIMAL64).putFixed(rows(0), BulkBuffers.longs()));
    refused(
        ErrorCode.TYPE_CONFLICT,
        "x",
        () -> column(QwpType.DOUBLE).putIntegers(rows(0), BulkBuffers.longs(), 8, true, 1));
    refused(
        ErrorCode.TYPE_CONFLICT,
        "x",
        () -> column(QwpType.LONG).putDecimals(rows(0), BulkBuffers.longs(), 8, 0));
  }

  @ParameterizedTest
  @EnumSource(
      value = QwpType.class,
      names = {"DECIMAL64", "DECIMAL128", "DECIMAL256"})
  void aDecimalWithOneDigitTooManyIsRefused(QwpType type) {
    int digits = type == QwpType.DECIMAL64 ? 18 : type == QwpType.DECIMAL128 ? 38 : 76;
    BigInteger bound = BigInteger.TEN.pow(digits);
    for (int width : new int[] {8, 16, 32}) {
      for (BigInteger value : new BigInteger[] {bound, bound.negate(), bound.shiftLeft(1)}) {
        if (value.bitLength() >= width * 8) {
          continue;
        }
        ByteBuffer numbers = ByteBuffer.allocateDirect(2 * width);
        BulkBuffers.putNumber(numbers, width, width, value);
        SfException refused =
            assertThrows(
                SfException.class, () -> column(type).putDecimals(rows(2), numbers, width, 0));
        assertTrue(refused.getMessage().contains("row 1001"), refused.getMessage());
      }
    }
  }

  /** A server makes a column of such a scale, and reads other numbers from it. */
  @ParameterizedTest
  @CsvSource({"DECIMAL64, 19", "DECIMAL128, 39", "DECIMAL256, 77"})
  void scalesBeyondTheDigitsOfTheType(QwpType type, int scale) {
    refused(
        ErrorCode.VALUE_INVALID,
        "scale of " + scale,
        () -> column(type).putDecimals(rows(1), BulkBuffers.longs(125), 8, scale));
  }
}
