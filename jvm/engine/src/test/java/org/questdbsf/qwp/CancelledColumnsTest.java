package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.SfException;

class CancelledColumnsTest {
  @Test
  void aCancelledRowMayTakeItsColumnsWithIt() {
    SymbolDictionary dictionary = new SymbolDictionary();
    TableBlock block = new TableBlock("t", dictionary, 127);
    block.column("kept", QwpType.LONG).putLong(1);
    block.endRow();
    byte[] before = Arrays.copyOf(encode(block, dictionary), (int) encodedBytes(block, dictionary));
    ColumnBuffer gone = block.column("New", QwpType.VARCHAR);
    gone.putText("x");
    block.column("kept", QwpType.LONG).putLong(2);
    block.designated(QwpType.TIMESTAMP).putLong(1);
    block.cancelRowAndItsColumns();
    assertThrows(IllegalStateException.class, () -> gone.putText("y"));
    assertArrayEquals(
        before, Arrays.copyOf(encode(block, dictionary), (int) encodedBytes(block, dictionary)));
    // Their names are free for other types.
    block.column("new", QwpType.LONG).putLong(3);
    block.designated(QwpType.TIMESTAMP_NANOS).putLong(4);
    block.endRow();
    block.column("new", QwpType.LONG).putLong(5);
    block.cancelRowAndItsColumns();
    assertEquals(QwpType.LONG, block.column("NEW", QwpType.LONG).type());
    assertThrows(SfException.class, () -> block.designated(QwpType.TIMESTAMP));
  }

  /** What one number alone says of a column is unsaid with it, in this batch and in later ones. */
  @Test
  void aCancelledNumberSaysNothingOfItsColumn() {
    TableBlock block = new TableBlock("t", new SymbolDictionary(), 127);
    ColumnBuffer column = block.column("n", QwpType.LONG);
    column.putWholeNumber(1L << 60);
    block.cancelRow();
    column.putWholeNumber(5);
    block.endRow();
    block.noteColumns();
    assertTrue(column.holdsPlainNumbers());
    for (int batch = 0; batch < 3; batch++) {
      column.putWholeNumber(1L << 60);
      assertFalse(column.holdsPlainNumbers());
      block.cancelRowAndItsColumns();
      assertTrue(column.holdsPlainNumbers(), "batch " + batch);
      assertFalse(block.hasNewColumns(), "batch " + batch);
      column.putWholeNumber(6);
      column.putWholeNumber(1L << 60);
      assertTrue(column.holdsPlainNumbers(), "the second value of a row is not taken");
      block.endRow();
      column.putWholeNumber(1L << 60);
      block.clear();
      assertTrue(column.holdsPlainNumbers(), "the row begun is forgotten with the others");
    }
    column.putWholeNumber(1L << 60);
    block.endRow();
    assertTrue(block.hasNewColumns());
    block.noteColumns();
    block.clear();
    column.putWholeNumber(1L << 61);
    block.cancelRow();
    assertFalse(column.holdsPlainNumbers(), "an earlier batch held another number");
    assertFalse(block.hasNewColumns());
  }

  @Test
  void aColumnWithNoNumberButACancelledOneHoldsNone() {
    TableBlock block = new TableBlock("t", new SymbolDictionary(), 127);
    ColumnBuffer column = block.column("n", QwpType.LONG);
    column.putWholeNumber(5);
    block.cancelRow();
    assertFalse(column.holdsPlainNumbers());
  }

  /** All ones need a bitmap in the whole column. */
  @Test
  void aCancelledGeohashChangesNoByte() {
    SymbolDictionary dictionary = new SymbolDictionary();
    TableBlock block = new TableBlock("t", dictionary, 127);
    ColumnBuffer column = block.column("g", QwpType.GEOHASH);
    column.putGeohash(1, 8);
    block.endRow();
    byte[] before = Arrays.copyOf(encode(block, dictionary), (int) encodedBytes(block, dictionary));
    column.putGeohash(0xFF, 8);
    block.cancelRow();
    assertArrayEquals(
        before, Arrays.copyOf(encode(block, dictionary), (int) encodedBytes(block, dictionary)));
    column.putGeohash(0xFF, 8);
    block.endRow();
    long withOnes = encodedBytes(block, dictionary);
    column.putGeohash(0xFF, 8);
    block.cancelRow();
    assertEquals(withOnes, encodedBytes(block, dictionary), "an earlier row still needs it");
  }

  private static byte[] encode(TableBlock block, SymbolDictionary dictionary) {
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, 0, block.rows(), dictionary, 0, 0);
    return encoder.array();
  }

  private static long encodedBytes(TableBlock block, SymbolDictionary dictionary) {
    return block.encodedBytes() + MessageEncoder.overheadBytes(dictionary, 0, 0);
  }
}
