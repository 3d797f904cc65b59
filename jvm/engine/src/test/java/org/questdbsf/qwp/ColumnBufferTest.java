package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Rules for the rows and columns of a block. */
class ColumnBufferTest extends BlockFixture {
  @Test
  void theFirstValueOfARowWins() {
    row(
        "x",
        QwpType.LONG,
        c -> {
          c.putLong(1);
          c.putLong(2);
          c.putNull();
        });
    row(
        "x",
        QwpType.LONG,
        c -> {
          c.putNull();
          c.putLong(3);
        });
    assertEquals(Arrays.asList(1L, null), cells(0));
  }

  @Test
  void columnsAreFoundWithoutRegardToCaseAndBackFilled() {
    row("Price", QwpType.LONG, c -> c.putLong(1));
    ColumnBuffer late = block.column("late", QwpType.BOOLEAN);
    assertSame(block.column("Price", QwpType.LONG), block.column("PRICE", QwpType.LONG));
    late.putBoolean(true);
    block.endRow();
    block.endRow();
    assertEquals(Arrays.asList(1L, null, null), cells(0));
    assertEquals(List.of(false, true, false), cells(1));
    assertEquals("Price", decoded().columns().get(0).name());
    SfException e = refused(ErrorCode.TYPE_CONFLICT, () -> block.column("price", QwpType.DOUBLE));
    assertTrue(e.getMessage().contains("'Price' (LONG) of table 't'"), e.getMessage());
    assertTrue(e.getMessage().contains("DOUBLE"), e.getMessage());
  }

  @Test
  void theDesignatedTimestampGoesLast() {
    block.designated(QwpType.TIMESTAMP).putLong(5);
    row("x", QwpType.LONG, c -> c.putLong(1));
    assertEquals(List.of("x", ""), decoded().columns().stream().map(DecodedColumn::name).toList());
    refused(ErrorCode.TYPE_CONFLICT, () -> block.designated(QwpType.TIMESTAMP_NANOS));
    assertThrows(IllegalArgumentException.class, () -> block.designated(QwpType.DATE));
  }

  @Test
  void aCancelledRowLeavesNoTrace() {
    for (QwpType type : EnumSet.complementOf(EnumSet.of(QwpType.LONG_ARRAY))) {
      ColumnBuffer column = block.column("c" + type, type);
      switch (type) {
        case BOOLEAN -> column.putBoolean(true);
        case FLOAT -> column.putFloat(1);
        case DOUBLE -> column.putDouble(1);
        case SYMBOL, VARCHAR -> column.putText("first");
        case UUID -> column.putUuid(1, 2);
        case LONG256 -> column.putLong256(1, 2, 3, 4);
        case GEOHASH -> column.putGeohash(3, 8);
        case DOUBLE_ARRAY -> column.putDoubleArray(new double[] {1, 2}, new int[] {2, 1});
        case DECIMAL64, DECIMAL128, DECIMAL256 -> column.putDecimal(new BigDecimal("1.23"));
        case BINARY -> column.putBytes(new byte[] {1}, 0, 1);
        default -> column.putLong(1);
      }
    }
    block.cancelRow();
    block.cancelRow();
    assertEquals(0, block.rows());
    assertEquals(0, block.symbolLimit());
    dictionary.rollbackTo(0);
    int[] one = {1};
    // What the first value fixes was not fixed by a cancelled one.
    block.column("cGEOHASH", QwpType.GEOHASH).putGeohash(3, 12);
    block.column("cDECIMAL64", QwpType.DECIMAL64).putDecimal(new BigDecimal("1.5"));
    block.column("cDOUBLE_ARRAY", QwpType.DOUBLE_ARRAY).putDoubleArray(new double[1], one);
    block.column("cSYMBOL", QwpType.SYMBOL).putText("second");
    block.column("cVARCHAR", QwpType.VARCHAR).putText("second");
    block.endRow();
    List<DecodedColumn> columns = decoded().columns();
    DecodedColumn geohash = find(columns, "cGEOHASH");
    assertEquals(12, geohash.precision());
    assertEquals(1, find(columns, "cDECIMAL64").scale());
    assertArrayEquals(one, find(columns, "cDOUBLE_ARRAY").getShape(0));
    assertEquals("second", find(columns, "cSYMBOL").getText(0));
    assertEquals("second", find(columns, "cVARCHAR").getText(0));
    assertEquals(1, block.symbolLimit());
    assertTrue(find(columns, "cLONG").isNull(0));
    // Nobody knows what these would be: they are left out, which means null.
    assertTrue(columns.stream().noneMatch(c -> c.name().equals("cDECIMAL128")));
  }

  private static DecodedColumn find(List<DecodedColumn> columns, String name) {
    return columns.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void aCancelledValueBehindGoodOnes() {
    ColumnBuffer column = row("v", QwpType.VARCHAR, c -> c.putText("a"));
    ColumnBuffer symbol = block.column("s", QwpType.SYMBOL);
    symbol.putText("kept");
    block.endRow();
    symbol.putText("cancelled");
    column.putText("cancelled");
    assertEquals(1, block.symbolLimit(), "the row begun does not count");
    block.cancelRow();
    symbol.putNull();
    block.cancelRow();
    row("v", QwpType.VARCHAR, c -> c.putText("b"));
    assertEquals(Arrays.asList("a", null, "b"), cells(0));
    assertEquals(Arrays.asList(null, "kept", null), cells(1));
    assertEquals(1, block.symbolLimit());
    assertEquals(0, block.symbolLimit(0, 1));
    assertEquals(1, block.symbolLimit(1, 2));
  }

  @Test
  void sizesDoNotCountTheRowBegun() {
    ColumnBuffer text = row("v", QwpType.VARCHAR, c -> c.putText("a"));
    ColumnBuffer symbol = row("s", QwpType.SYMBOL, c -> c.putText("a"));
    long size = block.encodedBytes();
    text.putText("more");
    symbol.putText("more");
    assertEquals(size, block.encodedBytes());
    decoded();
  }

  @Test
  void clearKeepsColumnsAndForgetDropsThem() {
    ColumnBuffer geohash = row("g", QwpType.GEOHASH, c -> c.putGeohash(31, 5));
    row("x", QwpType.LONG, c -> c.putLong(1));
    block.clear();
    assertEquals(0, block.rows());
    row("x", QwpType.LONG, c -> c.putLong(2));
    assertEquals(2, decoded().columns().size());
    assertEquals(5, decoded().columns().get(0).precision(), "of a batch without values");
    SfException e = refused(ErrorCode.VALUE_INVALID, () -> geohash.putGeohash(1, 6));
    assertTrue(e.getMessage().contains("6 bits, but the column has 5"), e.getMessage());
    geohash.putGeohash(1, 5);

    block.forgetColumns();
    assertThrows(IllegalStateException.class, () -> geohash.putGeohash(1, 5));
    assertThrows(IllegalStateException.class, geohash::putNull);
    row("g", QwpType.LONG, c -> c.putLong(7));
    assertEquals(List.of(7L), cells(0));
    assertThrows(IllegalStateException.class, () -> geohash.putGeohash(1, 5));
  }

  @Test
  void whatEarlierBatchesFixedOutlivesACancelledRow() {
    block.column("g", QwpType.GEOHASH).putGeohash(31, 5);
    block.column("d", QwpType.DECIMAL64).putDecimal(new BigDecimal("1.50"));
    block.column("a", QwpType.DOUBLE_ARRAY).putDoubleArray(new double[1], new int[] {1, 1});
    block.endRow();
    block.clear();
    block.column("g", QwpType.GEOHASH).putGeohash(1, 5);
    block.column("d", QwpType.DECIMAL64).putDecimal(new BigDecimal("7.25"));
    block.column("a", QwpType.DOUBLE_ARRAY).putDoubleArray(new double[1], new int[] {1, 1});
    block.cancelRow();
    block.endRow();
    assertEquals(5, decoded().columns().get(0).precision());
    assertEquals(2, decoded().columns().get(1).scale());
    refused(
        ErrorCode.VALUE_INVALID,
        () -> block.column("a", QwpType.DOUBLE_ARRAY).putDoubleArray(new double[1], new int[] {1}));
  }
}
