package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Which values each type of column takes. */
class ColumnValuesTest extends BlockFixture {
  @ParameterizedTest
  @CsvSource({
    "BYTE, -128, 127, true",
    "SHORT, -32768, 32767, true",
    "INT, -2147483647, 2147483647, true",
    "LONG, -9223372036854775807, 9223372036854775807, false",
    "TIMESTAMP, -9223372036854775807, 9223372036854775807, false",
    "TIMESTAMP_NANOS, -9223372036854775807, 9223372036854775807, false",
    "DATE, -9223372036854775807, 9223372036854775807, false",
    "CHAR, 1, 65535, true",
    "IPV4, 1, 4294967295, true",
  })
  void integersInRange(QwpType type, long min, long max, boolean bounded) {
    ColumnBuffer column = block.column("x", type);
    SfException e = refused(ErrorCode.VALUE_INVALID, () -> column.putLong(min - 1));
    assertTrue(e.getMessage().contains("'x' (" + type + ") of table 't', row 0"), e.getMessage());
    assertTrue(e.getMessage().contains("" + (min - 1)), e.getMessage());
    if (bounded) {
      refused(ErrorCode.VALUE_INVALID, () -> column.putLong(max + 1));
    }
    row("x", type, c -> c.putLong(min));
    row("x", type, c -> c.putLong(max));
    DecodedColumn decoded = decoded().columns().get(0);
    assertEquals(min, decoded.getLong(0));
    assertEquals(max, decoded.getLong(1));
  }

  @Test
  void valuesThatReadAsNullAreRefused() {
    refused(ErrorCode.VALUE_INVALID, () -> block.column("u", QwpType.UUID).putUuid(MIN, MIN));
    refused(
        ErrorCode.VALUE_INVALID,
        () -> block.column("l", QwpType.LONG256).putLong256(MIN, MIN, MIN, MIN));
    row("u", QwpType.UUID, c -> c.putUuid(MIN, 0));
    row("l", QwpType.LONG256, c -> c.putLong256(MIN, MIN, MIN, 0));
  }

  @ParameterizedTest
  @CsvSource({
    "TIMESTAMP, 253402300799999999",
    "TIMESTAMP_NANOS, 9214646399999999999",
  })
  void designatedTimesThatQuestDbDoesNotTakeAreRefused(QwpType type, long latest) {
    ColumnBuffer column = block.designated(type);
    for (long time : new long[] {-1, latest + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      SfException e = refused(ErrorCode.VALUE_INVALID, () -> column.putLong(time));
      assertTrue(e.getMessage().contains("designated timestamp (" + type + ")"), e.getMessage());
      assertTrue(e.getMessage().contains(time + " is not between 0 and " + latest), e.toString());
    }
    column.putLong(0);
    block.endRow();
    column.putLong(latest);
    block.endRow();
    assertEquals(latest, decoded().columns().get(0).getLong(1));
    row("ordinary", type, c -> c.putLong(-1));
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void infinitiesAreRefused(double infinity) {
    ColumnBuffer wide = block.column("d", QwpType.DOUBLE);
    ColumnBuffer narrow = block.column("f", QwpType.FLOAT);
    ColumnBuffer many = block.column("a", QwpType.DOUBLE_ARRAY);
    double[] flat = {1, infinity};
    for (Executable put :
        List.<Executable>of(
            () -> wide.putDouble(infinity),
            () -> narrow.putFloat((float) infinity),
            () -> many.putDoubleArray(flat, new int[] {2}))) {
      SfException e = refused(ErrorCode.VALUE_INVALID, put);
      assertTrue(e.getMessage().contains(infinity + " is read by QuestDB as null"), e.toString());
    }
    // They left nothing behind, and what comes next to them goes.
    wide.putDouble(-Double.MAX_VALUE);
    narrow.putFloat(Float.MIN_VALUE);
    many.putDoubleArray(new double[] {-0.0}, new int[] {1});
    block.endRow();
    List<DecodedColumn> columns = decoded().columns();
    assertEquals(-Double.MAX_VALUE, columns.get(0).getDouble(0));
    assertEquals(Float.MIN_VALUE, columns.get(1).getFloat(0));
    assertArrayEquals(new double[] {-0.0}, columns.get(2).getDoubleArray(0));
  }

  @Test
  void charsThatAreNoCharactersAreRefused() {
    ColumnBuffer column = block.column("c", QwpType.CHAR);
    refused(ErrorCode.VALUE_INVALID, () -> column.putLong(0));
    for (char half : new char[] {'\ud800', '\udbff', '\udc00', '\udfff'}) {
      SfException e = refused(ErrorCode.VALUE_INVALID, () -> column.putLong(half));
      assertTrue(e.getMessage().contains("half of a surrogate pair"), e.getMessage());
    }
    row("c", QwpType.CHAR, c -> c.putLong('\ud7ff'));
    row("c", QwpType.CHAR, c -> c.putLong('\ue000'));
  }

  /** A server reads the bits of the longs as doubles. */
  @Test
  void arraysOfLongsAreRefused() {
    SfException e =
        refused(ErrorCode.TYPE_UNSUPPORTED, () -> block.column("l", QwpType.LONG_ARRAY));
    assertTrue(e.getMessage().contains("table 't', column 'l'"), e.getMessage());
    assertTrue(e.getMessage().contains("DOUBLE_ARRAY"), e.getMessage());
    row("l", QwpType.DOUBLE_ARRAY, c -> c.putDoubleArray(new double[] {1}, new int[] {1}));
  }

  @Test
  void allOnesGeohashInWholeBytesIsNotNull() {
    row("g", QwpType.GEOHASH, c -> c.putGeohash(0xFF, 8));
    assertEquals(List.of("11111111b"), cells(0));
  }

  @Test
  void geohashes() {
    ColumnBuffer column = block.column("g", QwpType.GEOHASH);
    refused(ErrorCode.VALUE_INVALID, () -> column.putGeohash(0, 0));
    refused(ErrorCode.VALUE_INVALID, () -> column.putGeohash(0, 61));
    refused(ErrorCode.VALUE_INVALID, () -> column.putGeohash(32, 5));
    refused(ErrorCode.VALUE_INVALID, () -> column.putGeohash(-1, 60));
    row("g", QwpType.GEOHASH, c -> c.putGeohash((1L << 60) - 1, 60));
    assertEquals(List.of("1".repeat(60) + "b"), cells(0));
  }

  @Test
  void decimalsKeepTheScaleOfTheFirst() {
    ColumnBuffer column = row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("1.50")));
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("2")));
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("1E+3")));
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("-7.10000")));
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(5, 1));
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("0E+900000000")));
    assertEquals(List.of("1.50", "2.00", "1000.00", "-7.10", "0.50", "0.00"), cells(0));
    SfException e =
        refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(new BigDecimal("1.255")));
    assertTrue(e.getMessage().contains("scale 3 would lose digits"), e.getMessage());
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(1255, 3));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(new BigDecimal("1E-900000000")));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(new BigDecimal("1E+900000000")));
    // Division by a power of ten of that size would take the memory of the machine.
    BigInteger odd = BigInteger.TEN.pow(30).add(BigInteger.ONE);
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(new BigDecimal(odd, 900_000_000)));
    block.clear();
    row("d", QwpType.DECIMAL64, c -> c.putDecimal(new BigDecimal("1.255")));
    assertEquals(List.of("1.255"), cells(0));
  }

  @ParameterizedTest
  @CsvSource({"DECIMAL64, 18", "DECIMAL128, 38", "DECIMAL256, 76"})
  void decimalsInRange(QwpType type, int digits) {
    BigDecimal bound = BigDecimal.ONE.scaleByPowerOfTen(digits);
    BigDecimal most = bound.subtract(BigDecimal.ONE);
    ColumnBuffer column = block.column("d", type);
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(bound));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(bound.negate()));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(most.movePointLeft(digits + 1)));
    row("d", type, c -> c.putDecimal(most));
    row("d", type, c -> c.putDecimal(most.negate()));
    assertEquals(List.of(most.toPlainString(), most.negate().toPlainString()), cells(0));
    block.clear();
    row("d", type, c -> c.putDecimal(most.movePointLeft(digits)));
    assertEquals(List.of(most.movePointLeft(digits).toPlainString()), cells(0));
    // Digits that fit before, but not after they are brought to the column's scale.
    refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(BigDecimal.ONE));
    if (type == QwpType.DECIMAL64) {
      refused(ErrorCode.VALUE_INVALID, () -> column.putDecimal(Long.MAX_VALUE, 0));
    }
  }

  @Test
  void arrays() {
    ColumnBuffer column = block.column("a", QwpType.DOUBLE_ARRAY);
    double[] two = {1, 2};
    refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(two, new int[0]));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(two, new int[] {3}));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(two, new int[] {-1, -2}));
    refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(new double[0], new int[33]));
    refused(
        ErrorCode.VALUE_INVALID,
        () -> column.putDoubleArray(two, new int[] {1 << 30, 1 << 30, 1 << 30}));
    double[] large = new double[QwpLimits.MAX_ARRAY_ELEMENTS + 1];
    refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(large, new int[] {large.length}));
    row("a", QwpType.DOUBLE_ARRAY, c -> c.putDoubleArray(new double[0], new int[] {0, 7}));
    SfException e =
        refused(ErrorCode.VALUE_INVALID, () -> column.putDoubleArray(two, new int[] {2}));
    assertTrue(e.getMessage().contains("1 dimensions, but the column has 2"), e.getMessage());
    row("a", QwpType.DOUBLE_ARRAY, c -> c.putDoubleArray(two, new int[] {1, 2}));
    assertArrayEquals(new int[] {0, 7}, decoded().columns().get(0).getShape(0));
    assertArrayEquals(two, decoded().columns().get(0).getDoubleArray(1));
  }

  @Test
  void texts() {
    ColumnBuffer column = block.column("v", QwpType.VARCHAR);
    for (String bad : List.of("a\ud800", "\ud800\ud800", "\udc00\ud800", "ab\udfff")) {
      SfException e = refused(ErrorCode.VALUE_INVALID, () -> column.putText(bad));
      assertTrue(e.getMessage().contains("surrogate pair at character"), e.getMessage());
      refused(ErrorCode.VALUE_INVALID, () -> block.column("s", QwpType.SYMBOL).putText(bad));
    }
    for (String bad :
        List.of(
            "80",
            "c0 80",
            "c1 bf",
            "c3",
            "e0 9f bf",
            "ed a0 80",
            "f0 8f bf bf",
            "f4 90 80 80",
            "f5 80 80 80",
            "e2 82",
            "61 62 63 64 65 66 67 68 ff")) {
      byte[] bytes = Hex.bytes(bad);
      refused(ErrorCode.VALUE_INVALID, () -> column.putUtf8(bytes, 0, bytes.length));
      refused(
          ErrorCode.VALUE_INVALID,
          () -> block.column("s", QwpType.SYMBOL).putUtf8(bytes, 0, bytes.length));
    }
    byte[] good = "xé€😀\u0000퟿".getBytes(StandardCharsets.UTF_8);
    column.putUtf8(good, 1, good.length - 1);
    assertThrows(IndexOutOfBoundsException.class, () -> column.putUtf8(good, 1, good.length));
    block.endRow();
    assertEquals(List.of("é€😀\u0000퟿"), cells(0));
    assertEquals(0, dictionary.size());
  }

  @Test
  void methodsOfOtherTypesAreRefused() {
    ColumnBuffer text = block.column("v", QwpType.VARCHAR);
    SfException e = refused(ErrorCode.TYPE_CONFLICT, () -> text.putLong(1));
    assertTrue(e.getMessage().contains("'v' (VARCHAR)"), e.getMessage());
    refused(ErrorCode.TYPE_CONFLICT, () -> text.putDouble(1));
    refused(ErrorCode.TYPE_CONFLICT, () -> text.putBytes(new byte[1], 0, 1));
    refused(ErrorCode.TYPE_CONFLICT, () -> text.putDecimal(1, 0));
    ColumnBuffer number = block.column("n", QwpType.LONG);
    refused(ErrorCode.TYPE_CONFLICT, () -> number.putText("1"));
    refused(ErrorCode.TYPE_CONFLICT, () -> number.putBoolean(true));
    refused(ErrorCode.TYPE_CONFLICT, () -> number.putUuid(1, 1));
    refused(ErrorCode.TYPE_CONFLICT, () -> block.column("d", QwpType.DOUBLE).putFloat(1));
    refused(
        ErrorCode.TYPE_CONFLICT,
        () -> block.column("d", QwpType.DOUBLE).putDoubleArray(new double[1], new int[] {1}));
  }

  @Test
  void limits() {
    for (int i = 0; i < QwpLimits.MAX_COLUMNS; i++) {
      block.column("c" + i, QwpType.BYTE);
    }
    refused(ErrorCode.LIMIT_EXCEEDED, () -> block.column("more", QwpType.BYTE));
    refused(ErrorCode.LIMIT_EXCEEDED, () -> block.designated(QwpType.TIMESTAMP));
    block.forgetColumns();
    ColumnBuffer column = block.column("b", QwpType.BYTE);
    for (int i = 0; i <= QwpLimits.MAX_FRAME_ROWS; i++) {
      column.putLong(1);
      block.endRow();
    }
    MessageEncoder encoder = new MessageEncoder();
    refused(
        ErrorCode.LIMIT_EXCEEDED, () -> encoder.encode(block, 0, block.rows(), dictionary, 0, 0));
    encoder.encode(block, 1, block.rows(), dictionary, 0, 0);
    List<TableBlock> many = new ArrayList<>();
    TableBlock one = new TableBlock("m", dictionary, QwpLimits.MAX_NAME_BYTES);
    one.endRow();
    for (int i = 0; i <= QwpLimits.MAX_TABLES; i++) {
      many.add(one);
    }
    refused(ErrorCode.LIMIT_EXCEEDED, () -> encoder.encode(many, dictionary, 0, 0));
  }
}
