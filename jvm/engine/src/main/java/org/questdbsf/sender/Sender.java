package org.questdbsf.sender;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/**
 * Sends rows to QuestDB by way of a store-and-forward ring. Rows go in by the row methods ({@link
 * #table} … {@link #at}), or whole blocks by {@link #publish}; a background loop ships them and
 * ships again what was not acknowledged after each reconnect.
 *
 * <p>One producer thread at a time. {@link #awaitAcked}, {@link #checkError}, the accessors, {@link
 * #discard} and {@link #close} may be called from any thread.
 */
public final class Sender implements AutoCloseable {
  private Sender() {}

  /** A plain sender from a connect string; see {@link SenderBuilder#build}. */
  public static Sender fromConfig(String connectString) throws InterruptedException {
    return builder(SenderConfig.parse(connectString)).build();
  }

  public static SenderBuilder builder(SenderConfig config) {
    return new SenderBuilder(config);
  }

  /** Begins a row; its values follow, then {@link #at} or {@link #atNow}. */
  public Sender table(String name) {
    throw new UnsupportedOperationException("table");
  }

  public Sender symbol(String column, CharSequence value) {
    throw new UnsupportedOperationException("symbol");
  }

  public Sender stringColumn(String column, CharSequence value) {
    throw new UnsupportedOperationException("stringColumn");
  }

  public Sender boolColumn(String column, boolean value) {
    throw new UnsupportedOperationException("boolColumn");
  }

  public Sender byteColumn(String column, byte value) {
    throw new UnsupportedOperationException("byteColumn");
  }

  public Sender shortColumn(String column, short value) {
    throw new UnsupportedOperationException("shortColumn");
  }

  public Sender intColumn(String column, int value) {
    throw new UnsupportedOperationException("intColumn");
  }

  public Sender longColumn(String column, long value) {
    throw new UnsupportedOperationException("longColumn");
  }

  public Sender floatColumn(String column, float value) {
    throw new UnsupportedOperationException("floatColumn");
  }

  public Sender doubleColumn(String column, double value) {
    throw new UnsupportedOperationException("doubleColumn");
  }

  public Sender charColumn(String column, char value) {
    throw new UnsupportedOperationException("charColumn");
  }

  public Sender decimalColumn(String column, BigDecimal value) {
    throw new UnsupportedOperationException("decimalColumn");
  }

  public Sender timestampColumn(String column, long value, ChronoUnit unit) {
    throw new UnsupportedOperationException("timestampColumn");
  }

  public Sender timestampColumn(String column, Instant value) {
    throw new UnsupportedOperationException("timestampColumn");
  }

  /** Forgets the row begun. */
  public void cancelRow() {
    throw new UnsupportedOperationException("cancelRow");
  }

  /** Ends the row with its designated timestamp. */
  public void at(long timestamp, ChronoUnit unit) throws InterruptedException {
    throw new UnsupportedOperationException("at");
  }

  public void at(Instant timestamp) throws InterruptedException {
    throw new UnsupportedOperationException("at");
  }

  /** Ends the row; the server gives it its own time. */
  public void atNow() throws InterruptedException {
    throw new UnsupportedOperationException("atNow");
  }

  /**
   * Publishes all ended rows; with {@code sf_durability=flush} returns when they are on disk.
   *
   * @return FSN of the newest frame published, −1 when there is none
   */
  public long flush() throws InterruptedException {
    throw new UnsupportedOperationException("flush");
  }

  /**
   * Flushes, and waits until everything published is acknowledged.
   *
   * @return false when that took longer than {@code millis}
   */
  public boolean drain(long millis) throws InterruptedException {
    throw new UnsupportedOperationException("drain");
  }

  /** The dictionary that all blocks of this sender must use. */
  public SymbolDictionary dictionary() {
    throw new UnsupportedOperationException("dictionary");
  }

  /** An empty block for rows of a table, to be handed to {@link #publish}. */
  public TableBlock newBlock(String table) {
    throw new UnsupportedOperationException("newBlock");
  }

  /**
   * Publishes the ended rows of a block in one or more frames and clears it. Waits for room in the
   * ring, interruptibly. When it throws anything but FRAME_TOO_LARGE the rows that were not
   * published are still in the block, and publishing it again goes on with them.
   *
   * @return FSN of the newest frame
   * @throws org.questdbsf.error.SfException FRAME_TOO_LARGE when a single row fits no frame (all
   *     other rows are published, the message says which one was not), BACKPRESSURE_TIMEOUT, or the
   *     terminal error of this sender
   */
  public long publish(TableBlock block) throws InterruptedException {
    throw new UnsupportedOperationException("publish");
  }

  /**
   * Waits until a frame is acknowledged (durably, where that was asked for).
   *
   * @throws org.questdbsf.error.SfException the terminal error, or SENDER_CLOSED
   */
  public void awaitAcked(long fsn) throws InterruptedException {
    throw new UnsupportedOperationException("awaitAcked");
  }

  /** Waits until everything published is on stable storage; at once for a ring in memory. */
  public void force() throws InterruptedException {
    throw new UnsupportedOperationException("force");
  }

  /** Throws the terminal error, if there is one. Any thread. */
  public void checkError() {
    throw new UnsupportedOperationException("checkError");
  }

  /** FSN of the newest published frame, −1 when there is none. Any thread. */
  public long publishedFsn() {
    throw new UnsupportedOperationException("publishedFsn");
  }

  /** Highest acknowledged FSN, −1 when there is none. Any thread. */
  public long ackedFsn() {
    throw new UnsupportedOperationException("ackedFsn");
  }

  /** Age of the oldest frame that is not acknowledged, 0 when there is none. Any thread. */
  public long oldestUnackedMillis() {
    throw new UnsupportedOperationException("oldestUnackedMillis");
  }

  /** Bytes in the ring's segments. Any thread. */
  public long unackedBytes() {
    throw new UnsupportedOperationException("unackedBytes");
  }

  /** How often a producer had to wait for room. Any thread. */
  public long backpressureStalls() {
    throw new UnsupportedOperationException("backpressureStalls");
  }

  public SenderCounters counters() {
    throw new UnsupportedOperationException("counters");
  }

  public SenderState state() {
    throw new UnsupportedOperationException("state");
  }

  public Optional<SenderError> terminalError() {
    throw new UnsupportedOperationException("terminalError");
  }

  /** Name of the slot or lane. */
  public String name() {
    throw new UnsupportedOperationException("name");
  }

  /**
   * Whether the dictionary has grown so far that the owner should drain this sender, close it and
   * open another.
   */
  public boolean mustRetire() {
    throw new UnsupportedOperationException("mustRetire");
  }

  /**
   * Stops at once: nothing that is not acknowledged goes out after this returns. Frames in memory
   * are gone, those in a slot stay for its next owner. Never throws.
   */
  public void discard() {
    throw new UnsupportedOperationException("discard");
  }

  /**
   * Flushes, waits for acknowledgements up to {@code close_flush_timeout_millis}, then stops the
   * loop and closes ring or slot. A second call does nothing.
   *
   * @throws org.questdbsf.error.SfException the terminal error, if nobody was told of it yet
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException("close");
  }
}
