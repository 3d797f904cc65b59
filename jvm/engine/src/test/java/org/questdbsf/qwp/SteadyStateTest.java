package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Gathering and encoding allocate nothing once buffers have grown and texts are known. */
class SteadyStateTest {
  private static final int ROWS = 1_000;

  private final SymbolDictionary dictionary = new SymbolDictionary();
  private final TableBlock block = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);
  private final MessageEncoder encoder = new MessageEncoder();
  private final byte[] text = "some text é".getBytes(StandardCharsets.UTF_8);
  private final String[] symbols = {"EU", "US", "APAC"};
  private final double[] array = {1, 2, 3};
  private final int[] shape = {3};

  private void batch() {
    for (int row = 0; row < ROWS; row++) {
      block.column("s", QwpType.SYMBOL).putText(symbols[row % 3]);
      block.column("l", QwpType.LONG).putLong(row);
      if (row % 7 != 0) {
        block.column("d", QwpType.DOUBLE).putDouble(row);
        block.column("v", QwpType.VARCHAR).putUtf8(text, 0, text.length);
        block.column("c", QwpType.DECIMAL128).putDecimal(row, 2);
      }
      block.column("a", QwpType.DOUBLE_ARRAY).putDoubleArray(array, shape);
      block.column("g", QwpType.GEOHASH).putGeohash(row & 31, 5);
      block.designated(QwpType.TIMESTAMP).putLong(row);
      if (row % 10 == 0) {
        block.cancelRow();
      } else {
        block.endRow();
      }
    }
    block.encodedBytes();
    encoder.encode(block, 0, block.rows() / 2, dictionary, 0, block.symbolLimit());
    encoder.encode(block, block.rows() / 2, block.rows(), dictionary, 3, 3);
    block.clear();
  }

  @Test
  void nothingIsAllocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < 20; i++) {
      batch();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 20; i++) {
      batch();
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 20L * ROWS, allocated + " bytes for " + 20 * ROWS + " rows");
  }

  @Test
  void anEncoderHasTheRoomThatWasAskedForAndGrowsFromAnySize() {
    for (int row = 0; row < ROWS; row++) {
      block.column("l", QwpType.LONG).putLong(row);
      block.endRow();
    }
    MessageEncoder roomy = new MessageEncoder(1 << 20);
    byte[] room = roomy.array();
    assertEquals(1 << 20, room.length);
    roomy.encode(block, 0, ROWS, dictionary, 0, 0);
    assertSame(room, roomy.array());
    MessageEncoder tight = new MessageEncoder(1);
    tight.encode(block, 0, ROWS, dictionary, 0, 0);
    assertArrayEquals(
        Arrays.copyOf(room, roomy.length()), Arrays.copyOf(tight.array(), tight.length()));
  }
}
