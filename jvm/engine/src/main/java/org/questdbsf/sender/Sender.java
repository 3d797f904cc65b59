package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.slot.SegmentRing;

/**
 * Sends rows to QuestDB by way of a store-and-forward ring. Rows go in one by one ({@link #table}),
 * or in whole blocks ({@link #publish}); a background loop ships them, and ships again what was not
 * acknowledged after each reconnect.
 *
 * <p>Unless the builder was given another gate, tables are looked at by SQL before rows go to them:
 * where one would change their values, nothing more is sent, and the sender ends with
 * TABLE_MISMATCH. See {@link TableTypes}.
 *
 * <p>One producer thread at a time. {@link #awaitAcked}, {@link #checkError}, the accessors, {@link
 * #discard} and {@link #close} may be called from any thread; the producer must have stopped before
 * {@code close}, which publishes what it left.
 */
public final class Sender implements AutoCloseable {
  private static final long STALL_MILLIS = 100;

  private final LoopSetup setup;
  private final SegmentRing ring;
  private final FramePublisher publisher;
  private final RowWriter rows;
  private final Row row;
  private final SlotNote note; // null in memory
  private final SenderCloser closer;

  Sender(
      LoopSetup setup,
      PlainTables tables,
      long appendDeadlineMillis,
      SlotNote note,
      SenderCloser c) {
    this.setup = setup;
    this.ring = setup.ring();
    this.publisher = new FramePublisher(setup, tables, appendDeadlineMillis);
    this.rows = new RowWriter(setup, publisher);
    this.row = new Row(this, rows);
    this.note = note;
    this.closer = c;
  }

  /** A plain sender from a connect string; see {@link SenderBuilder#build}. */
  public static Sender fromConfig(String connectString) throws InterruptedException {
    return builder(SenderConfig.parse(connectString)).build();
  }

  public static SenderBuilder builder(SenderConfig config) {
    return new SenderBuilder(config);
  }

  /** Begins a row; its values follow, then {@link Row#at} or {@link Row#atNow}. */
  public Row table(String name) {
    closer.checkOpen();
    rows.begin(name);
    return row;
  }

  void endRow() throws InterruptedException {
    rows.end();
    if (rows.isFlushDue()) {
      flush();
    }
  }

  /** Forgets the row begun, if there is one. */
  public void cancelRow() {
    rows.cancel();
  }

  /**
   * Publishes all ended rows; with {@code sf_durability=flush} returns when they are on disk.
   *
   * @return FSN of the newest frame published, −1 when there is none
   * @throws SfException as {@link #publish}
   */
  public long flush() throws InterruptedException {
    checkError();
    closer.checkOpen();
    try {
      rows.flush();
      ring.settle();
    } catch (SfException e) {
      checkError();
      throw e;
    }
    return ring.publishedFsn();
  }

  /**
   * Flushes, and waits until everything published is acknowledged or dropped. With a slot, or with
   * dead letters of your own, frames whose rows do not fit the table, and rows that have become too
   * large for a frame, are kept there ({@code sf_dir/.rejected}) and dealt with: they are not in
   * the table and not waited for. Compare {@link SenderCounters#rowsDropped} before and after, or
   * have the error handler told. In memory, or with {@code on_server_error=halt}, nothing is
   * dropped and this throws.
   *
   * @return false when that took longer than {@code millis}
   * @throws SfException the terminal error
   */
  public boolean drain(long millis) throws InterruptedException {
    return awaitAcked(flush(), millis);
  }

  /**
   * The dictionary that new blocks of this sender use. Publishing may begin another; blocks follow
   * when they are next published. Producer's thread only.
   */
  public SymbolDictionary dictionary() {
    return setup.symbols().current();
  }

  /**
   * Says what is asked of the tables whose rows this sender takes; before the first row of a table
   * that its target did not name. Whoever sends the slot later asks the same of them. Without
   * effect in memory.
   *
   * @throws SfException DISK_FAILED when it cannot be written to the slot
   */
  public void noteTables(Collection<TableSpec> tables) {
    if (note != null) {
      note.require(tables);
    }
  }

  /** An empty block for rows of a table, to be handed to {@link #publish}. */
  public TableBlock newBlock(String table) {
    return new TableBlock(table, dictionary(), setup.config().maxNameLen());
  }

  /**
   * Publishes the ended rows of a block in one or more frames and clears it. Waits for room in the
   * ring, interruptibly. When it throws, the block knows which of its rows are {@linkplain
   * TableBlock#published() published}; publishing it again goes on with the others.
   *
   * @return FSN of the newest frame
   * @throws SfException FRAME_TOO_LARGE at a row that fits no frame, which {@link #checkRow} would
   *     have refused: those before it are published; BACKPRESSURE_TIMEOUT, or the terminal error of
   *     this sender
   */
  public long publish(TableBlock block) throws InterruptedException {
    return publish(block, 0);
  }

  /**
   * As {@link #publish(TableBlock)}.
   *
   * @param firstNumber what messages call the first row of the block
   */
  public long publish(TableBlock block, long firstNumber) throws InterruptedException {
    checkError();
    closer.checkOpen();
    try {
      return publisher.publish(block, firstNumber, Sender::refuse);
    } catch (SfException e) {
      // A terminal error ends a wait for room: it counts as seen.
      checkError();
      throw e;
    }
  }

  private static void refuse(TableBlock block, long bytes, SfException tooLarge) {
    throw tooLarge;
  }

  /**
   * Waits until a frame is acknowledged (durably, where that was asked for), or dropped after a
   * refusal as the policy says, which counts as dealt with: see {@link #drain}.
   *
   * @throws SfException the terminal error, or SENDER_CLOSED
   */
  public void awaitAcked(long fsn) throws InterruptedException {
    setup.status().await(() -> ring.ackedFsn() >= fsn, -1);
  }

  /**
   * As {@link #awaitAcked(long)}, for at most so many milliseconds.
   *
   * @return whether it was acknowledged
   */
  public boolean awaitAcked(long fsn, long millis) throws InterruptedException {
    return setup
        .status()
        .await(() -> ring.ackedFsn() >= fsn, MILLISECONDS.toNanos(Math.max(0, millis)));
  }

  /** Most rows that {@link #publish} puts into one frame. */
  public int frameRows() {
    return setup.config().frameRows();
  }

  /**
   * Refuses the row at hand of a block where no frame takes it; before it is ended. Cheap, but a
   * large row waits until a server was connected and may have said what it takes.
   *
   * @throws SfException FRAME_TOO_LARGE, which names the largest column; BACKPRESSURE_TIMEOUT
   */
  public void checkRow(TableBlock block) throws InterruptedException {
    if (block.rowBytes() > setup.cap().limit()) {
      publisher.checkLargeRow(block);
    }
  }

  /**
   * Bytes of a frame with all ended rows of a block that are not published, if it were one.
   * Producer's thread only.
   */
  public long frameBytes(TableBlock block) {
    return publisher.frameBytes(block);
  }

  /**
   * Bytes that {@link #publish} aims at for a frame; less while no server has said what it takes.
   */
  public long frameBytes() {
    return Math.min(setup.config().frameBytes(), setup.cap().limit());
  }

  /**
   * Makes everything published as safe as {@code sf_durability} asks: with {@code flush} it returns
   * when that is on stable storage, else at once. Producer's thread only.
   */
  public void settle() throws InterruptedException {
    checkError();
    ring.settle();
  }

  /** Waits until everything published is on stable storage; at once for a ring in memory. */
  public void force() throws InterruptedException {
    checkError();
    ring.force();
  }

  /** Throws the terminal error, if there is one. Any thread. */
  public void checkError() {
    setup.status().checkError();
  }

  /** FSN of the newest published frame, −1 when there is none. Any thread. */
  public long publishedFsn() {
    return ring.publishedFsn();
  }

  /** Highest acknowledged or dropped FSN, −1 when there is none. Any thread. */
  public long ackedFsn() {
    return ring.ackedFsn();
  }

  /** Age of the oldest frame that is not acknowledged, 0 when there is none. Any thread. */
  public long oldestUnackedMillis() {
    long oldest = ring.ackedFsn() + 1;
    return oldest > ring.publishedFsn()
        ? 0
        : Math.max(0, NANOSECONDS.toMillis(System.nanoTime() - setup.times().of(oldest)));
  }

  /** Bytes in the ring's segments, the spare included. Any thread. */
  public long bytesUsed() {
    return ring.bytesUsed();
  }

  /** How often a producer had to wait for room. Any thread. */
  public long backpressureStalls() {
    return ring.backpressureStalls();
  }

  /** What was done so far. Any thread. */
  public SenderCounters counters() {
    return setup.counters();
  }

  /** The adopter of orphaned slots that {@code drain_orphans} asked for. Any thread. */
  public Optional<DrainerPool> drainers() {
    return closer.drainers();
  }

  /** How it does. Any thread. */
  public SenderState state() {
    SenderState state = setup.status().state();
    long since = publisher.appendingSince();
    long stalled = since == 0 ? 0 : NANOSECONDS.toMillis(System.nanoTime() - since);
    if (state.kind() != SenderState.Kind.OK || stalled < STALL_MILLIS) {
      return state;
    }
    return new SenderState(
        SenderState.Kind.BACKPRESSURE,
        Instant.now().minusMillis(stalled),
        state.cause(),
        state.host(),
        0);
  }

  /** What ended this sender. Any thread. */
  public Optional<SenderError> terminalError() {
    return setup.status().terminalError();
  }

  /** Name of the slot or lane. */
  public String name() {
    return setup.name();
  }

  /**
   * Whether the dictionary has grown so far that the next frame will go by an empty one: {@code
   * max_symbols_per_slot}, and in a slot, where each frame carries all of it, a quarter of what a
   * frame may have. Whoever has several senders may rather open another. Producer's thread only.
   */
  public boolean mustRetire() {
    return publisher.isFull(dictionary().size());
  }

  /**
   * Stops at once: nothing that is not acknowledged goes out after this returns. Frames in memory
   * are gone, those in a slot stay for its next owner. Never throws.
   */
  public void discard() {
    closer.discard();
  }

  /**
   * Publishes the rows gathered, waits for acknowledgements up to {@code
   * close_flush_timeout_millis}, then stops the loop and closes ring or slot. A second call does
   * nothing.
   *
   * @throws SfException the terminal error, if nobody was told of it yet, or why gathered rows
   *     could not be published
   */
  @Override
  public void close() {
    closer.close(rows::publishRest);
  }
}
