package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The size of a row by itself is that of a message with it, to the byte. */
class RowSizeTest {
  private final RowSize size = new RowSize();
  private final MessageEncoder encoder = new MessageEncoder();

  private int encoded(TableBlock block, int row) {
    block.published(row);
    SymbolDictionary own = new SymbolDictionary();
    block.moveTo(own);
    encoder.encode(block, row, row + 1, own, 0, block.symbolLimit(row, row + 1));
    return encoder.length();
  }

  @Test
  void isExactForEndedRowsOfRandomTables() {
    for (int round = 0; round < 300; round++) {
      RandomTable table = new RandomTable("t", new SymbolDictionary(), new Random(round));
      table.fill(40);
      for (int row = 0; row < table.block.rows(); row++) {
        long alone = size.messageBytes(table.block, row);
        String where = "seed " + round + ", row " + row;
        long unsaid = alone - encoded(table.block, row);
        assertTrue(unsaid >= 0, where);
        assertTrue(unsaid == 0 || table.block.columns().stream().anyMatch(RowSizeTest::mayGrow));
      }
    }
  }

  /** By what a later row says: that it needs a bitmap, a precision, or a scale. */
  private static boolean mayGrow(ColumnBuffer column) {
    return column.type() == QwpType.GEOHASH || !column.rows().store().writable(1);
  }

  /** The verdict is given before the row ends, and holds whatever comes after. */
  @Test
  void ofTheRowAtHandIsThatOfTheEndedOneAndNeverBelowIt() {
    for (int round = 0; round < 300; round++) {
      Random random = new Random(round);
      RandomTable table = new RandomTable("t", new SymbolDictionary(), random);
      long[] atHand = new long[30];
      table.onEnd = row -> atHand[row] = size.messageBytes(table.block, row);
      table.fill(atHand.length);
      for (int row = 0; row < atHand.length; row++) {
        assertTrue(atHand[row] >= size.messageBytes(table.block, row), "seed " + round);
        assertTrue(atHand[row] >= encoded(table.block, row), "seed " + round + ", row " + row);
      }
    }
  }

  @Test
  void theEstimateIsNeverBelow() {
    for (int round = 0; round < 300; round++) {
      RandomTable table = new RandomTable("t", new SymbolDictionary(), new Random(round));
      String seed = "seed " + round;
      table.onEnd =
          row -> assertTrue(table.block.rowBytes() >= size.messageBytes(table.block, row), seed);
      table.fill(30);
    }
  }

  @Test
  void aSymbolThatTwoColumnsShareCountsOnce() {
    TableBlock block = new TableBlock("t", new SymbolDictionary(), QwpLimits.MAX_NAME_BYTES);
    String text = "x".repeat(1_000);
    block.column("a", QwpType.SYMBOL).putText(text);
    long one = size.messageBytes(block, 0);
    block.column("b", QwpType.SYMBOL).putText(text);
    assertTrue(size.messageBytes(block, 0) - one < 10);
    block.endRow();
    assertEquals(encoded(block, 0), size.messageBytes(block, 0));
  }
}
