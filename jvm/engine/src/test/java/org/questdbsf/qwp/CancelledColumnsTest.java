package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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

  private static byte[] encode(TableBlock block, SymbolDictionary dictionary) {
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, 0, block.rows(), dictionary, 0, 0);
    return encoder.array();
  }

  private static long encodedBytes(TableBlock block, SymbolDictionary dictionary) {
    return block.encodedBytes() + MessageEncoder.overheadBytes(dictionary, 0, 0);
  }
}
