package org.questdbsf.sender;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.slot.SegmentRing;

/**
 * Cuts blocks of rows into frames that fit, encodes them, and appends them to the ring. Producer's
 * thread only; nothing per frame is allocated once the encoder has grown.
 */
final class FramePublisher {
  private final LoopSetup setup;
  private final SegmentRing ring;
  private final FrameCap cap;
  private final SymbolDictionary dictionary;
  private final PlainTables tables; // null where somebody else has the tables checked
  private final boolean selfSufficient;
  private final long deadlineMillis;
  private final MessageEncoder encoder;
  private final Supplier<String> stallDetail = this::doing;

  private int shippedSymbols;
  private TableBlock unfinished;
  private int unfinishedFrom;
  private long unfinishedGeneration;
  private volatile long appendingSince;

  /**
   * @param setup of the loop that ships the frames; where it has no dictionary, each frame carries
   *     its symbols from id 0, else only those that no frame before it carried
   * @param tables told of the columns of the frames before they are published, or null
   * @param deadlineMillis longest wait for room, below 0 for none
   */
  FramePublisher(
      LoopSetup setup, SymbolDictionary dictionary, PlainTables tables, long deadlineMillis) {
    this.setup = setup;
    this.ring = setup.ring();
    this.cap = setup.cap();
    this.dictionary = dictionary;
    this.tables = tables;
    this.selfSufficient = setup.dictionary() == null;
    this.deadlineMillis = deadlineMillis;
    // More than a frame may have is never needed.
    long room = Math.min(setup.config().initBufSize(), ring.maxFrameBytes());
    this.encoder = new MessageEncoder((int) room);
  }

  /**
   * Publishes all ended rows of a block and clears it; see {@link Sender#publish}.
   *
   * @return FSN of the newest frame
   */
  long publish(TableBlock block) throws InterruptedException {
    boolean again = block == unfinished && block.generation() == unfinishedGeneration;
    int from = again ? unfinishedFrom : 0;
    int rows = block.rows();
    SfException tooLarge = null;
    if (tables != null && block.hasNewColumns()) {
      tables.announce(block);
    }
    awaitAppendable();
    while (from < rows) {
      unfinished = block;
      unfinishedFrom = from;
      unfinishedGeneration = block.generation();
      int to = endOfFrame(block, from, rows);
      if (to == from && cap.smallestSeen() == 0) {
        // The first server connected may take more than is safe without knowing it.
        await(() -> setup.status().connectedOnce(), "a server to say how large a frame may be");
        to = endOfFrame(block, from, rows);
      }
      if (to > from) {
        append(block, from, to);
        from = to;
      } else {
        tooLarge = tooLarge == null ? rowTooLarge(block, from) : tooLarge;
        from++;
      }
    }
    unfinished = null;
    block.clear();
    if (tooLarge != null) {
      throw tooLarge;
    }
    return ring.publishedFsn();
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

  /** The end of the largest frame from a row on; the row itself when even that one is too large. */
  private int endOfFrame(TableBlock block, int from, int rows) {
    int hard = cap.limit();
    int to = (int) Math.min(rows, (long) from + setup.config().frameRows());
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
    return bytes > hard ? from : to;
  }

  private long size(TableBlock block, int from, int to) {
    return overhead(block, from, to) + block.encodedBytes(from, to);
  }

  private long overhead(TableBlock block, int from, int to) {
    return MessageEncoder.overheadBytes(dictionary, deltaStart(), deltaEnd(block, from, to));
  }

  private int deltaStart() {
    return selfSufficient ? 0 : shippedSymbols;
  }

  private int deltaEnd(TableBlock block, int from, int to) {
    return Math.max(deltaStart(), block.symbolLimit(from, to));
  }

  private void append(TableBlock block, int from, int to) throws InterruptedException {
    int deltaEnd = deltaEnd(block, from, to);
    encoder.encode(block, from, to, dictionary, deltaStart(), deltaEnd);
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

  private SfException rowTooLarge(TableBlock block, int row) {
    return new SfException(
        ErrorCode.FRAME_TOO_LARGE,
        "row "
            + row
            + " of the block for table '"
            + block.table()
            + "' takes "
            + size(block, row, row + 1)
            + " bytes with its symbols, a frame may have "
            + cap.limit()
            + (cap.smallestSeen() == 0
                ? " until a server has said what it takes"
                : " (90 % of the server's cap of " + cap.smallestSeen() + ", within a segment)")
            + "; this row was not sent, all others of the block were. Make the row smaller, or"
            + " raise http.recv.buffer.size of the server and sf_max_segment_bytes");
  }

  /** Since when the producer has been appending one frame, in nanoseconds; 0 when it is not. */
  long appendingSince() {
    return appendingSince;
  }
}
