package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.RowSize;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.slot.SegmentRing;

/**
 * Cuts blocks of rows into frames that fit, encodes them, and appends them to the ring. Where the
 * symbols have become too many, frames go on with an empty dictionary. Producer's thread only;
 * nothing per frame is allocated once the encoder has grown.
 */
final class FramePublisher {
  /** What to do with a row that fits no frame: the first of its block that is not published. */
  @FunctionalInterface
  interface OnTooLarge {
    /**
     * Throws, or has {@linkplain TableBlock#published(int) done} with the row.
     *
     * @param bytes of a message with this row alone
     */
    void row(TableBlock block, long bytes, SfException tooLarge);
  }

  private final LoopSetup setup;
  private final SegmentRing ring;
  private final FrameCap cap;
  private final SymbolEpochs symbols;
  private final PlainTables tables; // null where somebody else has the tables checked
  private final long deadlineMillis;
  private final MessageEncoder encoder;
  private final RowSize rowSize = new RowSize();
  private final Supplier<String> stallDetail = this::doing;

  private int shippedSymbols; // ids of the current dictionary that are in frames
  private volatile long appendingSince;

  /**
   * @param setup of the loop that ships the frames
   * @param tables told of the columns of the frames before they are published, or null
   * @param deadlineMillis longest wait for room, below 0 for none
   */
  FramePublisher(LoopSetup setup, PlainTables tables, long deadlineMillis) {
    this.setup = setup;
    this.ring = setup.ring();
    this.cap = setup.cap();
    this.symbols = setup.symbols();
    this.shippedSymbols = symbols.inEachFrame() ? symbols.current().size() : 0;
    this.tables = tables;
    this.deadlineMillis = deadlineMillis;
    // More than a frame may have is never needed.
    long room = Math.min(setup.config().initBufSize(), ring.maxFrameBytes());
    this.encoder = new MessageEncoder((int) room);
  }

  /**
   * Publishes the ended rows of a block that are not published, and clears it; see {@link
   * Sender#publish}.
   *
   * @param firstNumber what messages call the first row of the block
   * @return FSN of the newest frame
   */
  long publish(TableBlock block, long firstNumber, OnTooLarge onTooLarge)
      throws InterruptedException {
    if (tables != null && block.hasNewColumns()) {
      tables.announce(block);
    }
    awaitAppendable();
    while (block.published() < block.rows()) {
      if (isFull(shippedSymbols)) {
        retireSymbols();
      }
      block.moveTo(symbols.current());
      int from = block.published();
      int to = endOfFrame(block, from, block.rows());
      if (to > from) {
        append(block, from, to);
        block.published(to);
      } else {
        String row = "row " + (firstNumber + from);
        long bytes = rowSize.messageBytes(block, from);
        onTooLarge.row(block, bytes, tooLarge(block, from, row, bytes));
      }
    }
    block.clear();
    return ring.publishedFsn();
  }

  /**
   * Refuses the row at hand where no frame takes it: larger than {@link FrameCap#limit}, which
   * {@link TableBlock#rowBytes} can only rule out.
   */
  void checkLargeRow(TableBlock block) throws InterruptedException {
    long bytes = rowSize.messageBytes(block, block.rows());
    if (bytes > cap.limit()) {
      awaitFirstCap();
    }
    if (bytes > cap.limit()) {
      throw tooLarge(block, block.rows(), "the row", bytes);
    }
  }

  /** Whether the dictionary should take no more than so many ids. */
  boolean isFull(int ids) {
    return ids >= setup.config().maxSymbolsPerSlot()
        || symbols.inEachFrame() && symbols.current().encodedBytes(0, ids) > cap.limit() / 4;
  }

  private void retireSymbols() {
    symbols.retire(ring.publishedFsn() + 1);
    shippedSymbols = 0;
  }

  /** Behind what recovery left unclear nothing may be appended before it is out of the ring. */
  private void awaitAppendable() throws InterruptedException {
    long clear = setup.plan().appendAfter();
    if (ring.ackedFsn() < clear) {
      await(() -> ring.ackedFsn() >= clear, "recovered frames to be acknowledged");
    }
  }

  private void await(BooleanSupplier holds, String what) throws InterruptedException {
    long nanos = deadlineMillis < 0 ? -1 : TimeUnit.MILLISECONDS.toNanos(deadlineMillis);
    if (!setup.status().await(holds, nanos)) {
      throw new SfException(
          ErrorCode.BACKPRESSURE_TIMEOUT,
          "sender '"
              + setup.name()
              + "' waited "
              + deadlineMillis
              + " ms (sf_append_deadline_millis) for "
              + what
              + "; "
              + doing());
    }
  }

  /** What the send loop is doing, for messages of back-pressure. */
  private String doing() {
    SenderState state = setup.status().state();
    String host = state.host() == null ? "no host yet" : "host " + state.host();
    return switch (state.kind()) {
      case OK, BACKPRESSURE -> "publishing to " + host;
      case UNANSWERED -> "unanswered since " + state.since() + " by " + host;
      case REJECTING -> "rejected since " + state.since() + " by " + host + ": " + state.cause();
      case RECONNECTING ->
          "reconnecting since "
              + state.since()
              + " (UTC), "
              + state.attempts()
              + " attempts, "
              + host
              + ", last: "
              + state.cause();
      case FAILED -> "failed: " + state.cause();
    };
  }

  /** The end of the next frame; the row itself when no frame takes it. */
  private int endOfFrame(TableBlock block, int from, int rows) throws InterruptedException {
    int to = largestFrame(block, from, rows);
    if (to > from) {
      return to;
    }
    long bytes = rowSize.messageBytes(block, from);
    if (bytes > cap.limit()) {
      awaitFirstCap();
    }
    if (bytes <= cap.limit()) {
      // The symbols of other rows before it may be in the way.
      retireSymbols();
      block.moveTo(symbols.current());
    }
    return largestFrame(block, from, rows);
  }

  /** The first server connected may take more than is safe without knowing it. */
  private void awaitFirstCap() throws InterruptedException {
    if (cap.smallest() == 0) {
      await(() -> setup.status().connectedOnce(), "a server to say how large a frame may be");
    }
  }

  private int largestFrame(TableBlock block, int from, int rows) {
    int hard = cap.limit();
    int to = (int) Math.min(rows, (long) from + setup.config().frameRows());
    while (to > from + 1 && deltaEnd(block, from, to) > QwpLimits.MAX_SYMBOLS) {
      to = from + (to - from) / 2;
    }
    long bytes = size(block, from, to);
    long aim = Math.min(setup.config().frameBytes(), hard);
    if (bytes > aim && to > from + 1) {
      // Symbols come with each frame: where they are most of it, small frames would be nothing
      // else.
      aim = Math.min(hard, Math.max(aim, 4 * overhead(block, from, to)));
    }
    while (bytes > aim && to > from + 1) {
      long fitting = (to - from) * aim / bytes;
      to = from + (int) Math.max(1, Math.min(fitting, to - from - 1));
      bytes = size(block, from, to);
    }
    return bytes > hard || deltaEnd(block, from, to) > QwpLimits.MAX_SYMBOLS ? from : to;
  }

  /** Bytes of a frame with all rows of a block that are not published, if it were one. */
  long frameBytes(TableBlock block) {
    return size(block, block.published(), block.rows());
  }

  private long size(TableBlock block, int from, int to) {
    return overhead(block, from, to) + block.encodedBytes(from, to);
  }

  private long overhead(TableBlock block, int from, int to) {
    int end = deltaEnd(block, from, to);
    return MessageEncoder.overheadBytes(symbols.current(), deltaStart(), end);
  }

  private int deltaStart() {
    return symbols.inEachFrame() ? 0 : shippedSymbols;
  }

  private int deltaEnd(TableBlock block, int from, int to) {
    return Math.max(deltaStart(), block.symbolLimit(from, to));
  }

  private void append(TableBlock block, int from, int to) throws InterruptedException {
    int deltaEnd = deltaEnd(block, from, to);
    encoder.encode(block, from, to, symbols.current(), deltaStart(), deltaEnd);
    long now = System.nanoTime();
    setup.times().published(ring.publishedFsn() + 1, ring.ackedFsn(), now);
    appendingSince = now;
    try {
      ring.append(encoder.array(), 0, encoder.length(), deadlineMillis, stallDetail);
    } finally {
      appendingSince = 0;
    }
    shippedSymbols = Math.max(shippedSymbols, deltaEnd);
    setup.counters().rowsWritten.add(to - from);
    setup.counters().framesWritten.increment();
    setup.counters().bytesWritten.add(encoder.length());
  }

  private SfException tooLarge(TableBlock block, int row, String called, long bytes) {
    return new SfException(
        ErrorCode.FRAME_TOO_LARGE,
        called
            + " for table '"
            + block.table()
            + "' takes "
            + bytes
            + " bytes with its symbols, most of them in "
            + RowSize.largestValue(block, row)
            + "; a frame may have "
            + cap.limit()
            + (cap.smallest() == 0
                ? " until a server has said what it takes"
                : " (90 % of the server's cap of " + cap.smallest() + ", within a segment)")
            + ". Make the value smaller, or raise http.recv.buffer.size of the server and"
            + " sf_max_segment_bytes");
  }

  /** Since when the producer has been appending one frame, in nanoseconds; 0 when it is not. */
  long appendingSince() {
    return appendingSince;
  }
}
