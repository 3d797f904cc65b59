package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.LinkedHashMap;
import java.util.Map;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;

/**
 * Gathers rows that come one by one, a block a table, and says when they should be flushed (client
 * spec, the {@code auto_flush} keys). Producer's thread only.
 */
final class RowWriter {
  private static final int ROWS_BETWEEN_WEIGHINGS = 16;

  private final SenderConfig config;
  private final FrameCap cap;
  private final FramePublisher publisher;
  private final SymbolEpochs symbols;
  private final LargeRows largeRows;
  private final Map<String, TableBlock> blocks = new LinkedHashMap<>();
  private TableBlock row;
  private int symbolsBeforeRow;
  private int rows;
  private long firstRowAt;

  RowWriter(LoopSetup setup, FramePublisher publisher) {
    this.config = setup.config();
    this.cap = setup.cap();
    this.symbols = setup.symbols();
    this.publisher = publisher;
    this.largeRows = new LargeRows(setup);
  }

  void begin(String table) {
    if (row != null) {
      throw new SfException(
          ErrorCode.VALUE_INVALID,
          "a row of table '"
              + row.table()
              + "' is not ended yet; call at(), atNow() or cancelRow() before table('"
              + table
              + "')");
    }
    TableBlock block = blocks.get(table);
    if (block == null) {
      block = new TableBlock(table, symbols.current(), config.maxNameLen());
      blocks.put(table, block);
    }
    if (block.rows() == 0) {
      block.moveTo(symbols.current());
    }
    symbolsBeforeRow = block.dictionary().size();
    row = block;
  }

  ColumnBuffer column(String name, QwpType type) {
    return current().column(name, type);
  }

  ColumnBuffer designated(QwpType type) {
    return current().designated(type);
  }

  private TableBlock current() {
    if (row == null) {
      throw new SfException(ErrorCode.VALUE_INVALID, "no row is begun; call table() first");
    }
    return row;
  }

  /** Forgets the row begun, also the columns and symbols that only it has. */
  void cancel() {
    if (row != null) {
      row.cancelRowAndItsColumns();
      row.dictionary().rollbackTo(symbolsBeforeRow);
      row = null;
    }
  }

  /**
   * Ends the row begun.
   *
   * @throws SfException FRAME_TOO_LARGE where no frame takes it; it is still begun then
   */
  void end() throws InterruptedException {
    if (current().rowBytes() > cap.limit()) {
      publisher.checkLargeRow(row);
    }
    row.endRow();
    row = null;
    if (rows++ == 0) {
      firstRowAt = System.nanoTime();
    }
  }

  /** Whether the rows gathered should be flushed now. */
  boolean isFlushDue() {
    // Sizes cost a walk over the rows; a row more or less does not matter.
    boolean weigh = rows % ROWS_BETWEEN_WEIGHINGS == 0;
    if (!config.autoFlush()) {
      if (weigh) {
        checkRoom();
      }
      return false;
    }
    if (config.autoFlushRows() > 0 && rows >= config.autoFlushRows()) {
      return true;
    }
    long interval = config.autoFlushIntervalMillis();
    if (interval > 0 && System.nanoTime() - firstRowAt >= MILLISECONDS.toNanos(interval)) {
      return true;
    }
    long limit = config.maxBufSize();
    if (config.autoFlushBytes() > 0) {
      limit = Math.min(limit, config.autoFlushBytes());
    }
    return weigh && gatheredBytes() >= limit;
  }

  private void checkRoom() {
    long gathered = gatheredBytes();
    if (gathered > config.maxBufSize()) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          rows
              + " rows with "
              + gathered
              + " bytes wait for flush(), max_buf_size is "
              + config.maxBufSize()
              + "; flush more often");
    }
  }

  private long gatheredBytes() {
    long bytes = 0;
    for (TableBlock block : blocks.values()) {
      bytes += block.rows() == 0 ? 0 : block.encodedBytes();
    }
    return bytes;
  }

  /** Publishes all ended rows; no row may be begun. What cannot be published is kept. */
  void flush() throws InterruptedException {
    if (row != null) {
      throw new SfException(
          ErrorCode.VALUE_INVALID,
          "a row of table '"
              + row.table()
              + "' is not ended yet; call at(), atNow() or cancelRow() before flush()");
    }
    try {
      publishAll();
    } finally {
      rows = 0;
      for (TableBlock block : blocks.values()) {
        rows += block.rows() - block.published();
      }
    }
  }

  private void publishAll() throws InterruptedException {
    SfException tooLarge = null;
    for (TableBlock block : blocks.values()) {
      try {
        if (block.rows() > 0) {
          publisher.publish(block, 0, largeRows::setAside);
        }
      } catch (SfException e) {
        if (e.code() != ErrorCode.FRAME_TOO_LARGE) {
          throw e;
        }
        tooLarge = e; // the servers have come to take less than when the row was written
      }
    }
    if (tooLarge != null) {
      throw tooLarge;
    }
  }

  /** For the end: publishes all ended rows; a row begun is forgotten. */
  void publishRest() throws InterruptedException {
    cancel();
    if (rows > 0) {
      flush();
    }
  }
}
