package org.questdbsf.arrow;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.questdbsf.qwp.SourceRows;
import org.questdbsf.sender.Sender;

/** Writes tables in Arrow's layout through a {@link Sender}. For its producer's thread only. */
public final class ArrowWriter {
  private final Sender sender;
  private final Map<String, FrameBlock> blocks = new HashMap<>();

  public ArrowWriter(Sender sender) {
    this.sender = Objects.requireNonNull(sender, "sender");
  }

  /**
   * Begins a batch: its columns follow, then {@link ArrowBatch#write}.
   *
   * @param table name of the table
   * @param rows rows of the batch, in every column
   * @param number what messages call its first row
   * @throws org.questdbsf.error.SfException NAME_INVALID
   */
  public ArrowBatch batch(String table, int rows, long number) {
    if (rows < 0) {
      throw new IllegalArgumentException(rows + " rows");
    }
    FrameBlock block = blocks.computeIfAbsent(table, name -> new FrameBlock(sender, name));
    return new ArrowBatch(this, block, new SourceRows(null, 0, rows, number));
  }

  /** What a failed batch left in its block goes with it. */
  void forget(FrameBlock block) {
    blocks.remove(block.table());
  }
}
