package org.questdbsf.sender;

import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.Refusal.Hope;

/**
 * What becomes of rows that fitted a frame when they were taken, and fit none now that the servers
 * take less: the same as of frames that do not fit their table. Where the policy is to drop them,
 * each that no host takes is kept as a dead letter, counted and told, and the rows behind it go on;
 * else all of them wait, as they do where a host takes more than another, or has yet to say what it
 * takes. Producer's thread only.
 */
final class LargeRows {
  private final LoopSetup setup;
  private final Policy policy;

  LargeRows(LoopSetup setup) {
    this.setup = setup;
    boolean canKeep = setup.deadLetters() != null;
    this.policy =
        new ErrorPolicy(setup.config(), setup.defaults(), canKeep)
            .of(Category.LOCAL_FAILURE, Hope.NONE);
  }

  /**
   * Drops the first row of a block that is not published.
   *
   * @throws SfException FRAME_TOO_LARGE, as given, where the row is not dropped
   */
  void setAside(TableBlock block, long bytes, SfException tooLarge) {
    if (policy != Policy.DROP || !setup.cap().fitsNoHost(bytes)) {
      throw tooLarge;
    }
    long next = setup.ring().publishedFsn() + 1;
    SenderError error =
        new SenderError(
            Category.LOCAL_FAILURE,
            Policy.DROP,
            -1,
            -1,
            next,
            next - 1,
            block.table(),
            1,
            tooLarge.getMessage(),
            null,
            Instant.now(),
            null);
    String keptIn = setup.deadLetters() == null ? null : keep(block, error);
    block.published(block.published() + 1);
    setup.counters().rowsDropped.increment();
    setup.inbox().offer(error.withDeadLetter(keptIn));
  }

  private String keep(TableBlock block, SenderError error) {
    try {
      byte[] message = message(block);
      return setup.deadLetters().store(setup.name(), DeadLetterSink.NO_FRAME, message, error);
    } catch (IOException | RuntimeException e) { // file systems of others throw both
      throw new SfException(
          ErrorCode.FRAME_TOO_LARGE,
          error.message() + "; not dropped, because it cannot be kept: " + e,
          e);
    }
  }

  /** A message with the row and its symbols alone. */
  private static byte[] message(TableBlock block) {
    int row = block.published();
    SymbolDictionary own = SymbolEpochs.dictionary();
    block.moveTo(own);
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, row, row + 1, own, 0, block.symbolLimit(row, row + 1));
    return Arrays.copyOf(encoder.array(), encoder.length());
  }
}
