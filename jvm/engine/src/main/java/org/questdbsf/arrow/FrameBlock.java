package org.questdbsf.arrow;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.Sender;

/**
 * The block of one table, filled with as many rows at a time as make a frame: a block that the
 * publisher need not cut is measured and encoded without walking over its rows.
 */
final class FrameBlock {
  private static final int FIRST_ROWS = 2_048;
  private static final double FILL = 0.97;

  private final Sender sender;
  private final TableBlock block;
  private double bytesPerRow;

  FrameBlock(Sender sender, String table) {
    this.sender = sender;
    this.block = sender.newBlock(table);
  }

  String table() {
    return block.table();
  }

  TableBlock block() {
    return block;
  }

  /** The engine's dictionary, which all blocks share. */
  SymbolDictionary dictionary() {
    return sender.dictionary();
  }

  /** How many of the rows left should go into the next frame. */
  int rows(int left) {
    long fitting =
        bytesPerRow == 0 ? FIRST_ROWS : (long) (sender.frameBytes() * FILL / bytesPerRow);
    return (int) Math.max(1, Math.min(left, Math.min(fitting, sender.frameRows())));
  }

  /**
   * Publishes the rows put in, which have ended.
   *
   * @param number what messages call the first of them
   * @throws SfException FRAME_TOO_LARGE where one of them fits no frame; none was published then
   */
  void publish(long number) throws InterruptedException {
    int rows = block.rows();
    SymbolDictionary symbols = sender.dictionary();
    double bytes = block.encodedBytes() + symbols.encodedBytes(0, block.symbolLimit());
    bytesPerRow = bytes / rows;
    if (bytes > sender.frameBytes()) {
      checkEach(number);
    }
    sender.publish(block);
  }

  private void checkEach(long number) {
    SymbolDictionary symbols = sender.dictionary();
    for (int row = 0; row < block.rows(); row++) {
      long bytes =
          block.encodedBytes(row, row + 1)
              + MessageEncoder.overheadBytes(symbols, 0, block.symbolLimit(row, row + 1));
      if (bytes > sender.maxFrameBytes()) {
        throw new SfException(
            ErrorCode.FRAME_TOO_LARGE,
            "row "
                + (number + row)
                + " for table '"
                + block.table()
                + "' takes "
                + bytes
                + " bytes with its symbols, a frame may have "
                + sender.maxFrameBytes()
                + "; make the row smaller, or raise http.recv.buffer.size of the server and"
                + " sf_max_segment_bytes");
      }
    }
  }

  long rowsPublished() {
    return sender.counters().rowsWritten();
  }
}
