package org.questdbsf.arrow;

import org.questdbsf.error.SfException;
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

  /** The block, empty, with the dictionary that the next frame goes by. */
  TableBlock empty() {
    block.moveTo(sender.dictionary());
    return block;
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
   * @throws SfException FRAME_TOO_LARGE at one that fits no frame; those before it are published
   */
  void publish(long number) throws InterruptedException {
    bytesPerRow = (double) sender.frameBytes(block) / block.rows();
    sender.publish(block, number);
  }

  long rowsPublished() {
    return sender.counters().rowsWritten();
  }
}
