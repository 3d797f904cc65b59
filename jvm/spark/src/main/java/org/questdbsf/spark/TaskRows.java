package org.questdbsf.spark;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.Sender;

/**
 * The rows of one task on their way into its lane: encodes them, cuts frames, and remembers which
 * rows are in which frame. One thread.
 */
final class TaskRows {
  /** A connection's limit for tables (wire format, section on limits). */
  static final int CONNECTION_TABLES = 10_000;

  /** Of one task; the lane has tables of earlier ones. */
  static final int MAX_TABLES = 9_000;

  /** A block's size is looked at least every so many rows. */
  private static final int MAX_UNLOOKED_ROWS = 4096;

  /** Bytes by which the dictionary may grow between two looks, about. */
  private static final long MAX_UNLOOKED_SYMBOL_BYTES = 16 << 10;

  /** Bytes that the blocks of many tables hold together, about, or those of one frame. */
  private static final long MAX_GATHERED_BYTES = 16 << 20;

  private final LaneSettings settings;
  private final Lane lane;
  private final Sender sender;
  private final RowEncoder encoder;
  private final int tableOrdinal;
  private final int frameRows;
  private final long frameBytes;
  private final FrameLog frames;
  private final TaskRef task;
  private final long firstFsn;
  private final Map<UTF8String, Blocked> byTable = new HashMap<>();
  private final Blocked only;
  private Blocked last; // that got a row

  private long symbolBytes;
  private boolean lanesSymbolsFull;
  private long unpublished;
  private long gathered; // bytes of unpublished rows, a little more than right
  private long publishedBytes;
  private long lastFsn = -1;

  /** A table's block with what is known of its growth. */
  private static final class Blocked {
    final RowEncoder.Binding binding;
    final TableBlock block;
    int lookAt = 1;
    int lookedAt;
    long firstRow;
    long lastRow;
    long gathered;

    Blocked(RowEncoder.Binding binding) {
      this.binding = binding;
      this.block = binding.block();
    }
  }

  TaskRows(LaneSettings settings, Lane lane, TaskRef task) {
    this.settings = settings;
    this.lane = lane;
    this.sender = lane.sender();
    this.frames = lane.frames();
    this.task = task;
    this.encoder = new RowEncoder(settings.plan(), settings.options());
    this.tableOrdinal = settings.plan().tableOrdinal();
    this.frameRows = settings.options().number(SfOption.FRAME_ROWS).orElseThrow().intValue();
    this.frameBytes = settings.options().number(SfOption.FRAME_BYTES).orElseThrow();
    this.firstFsn = sender.publishedFsn() + 1;
    this.only =
        tableOrdinal < 0 ? new Blocked(lane.binding(settings.plan().table(), encoder)) : null;
  }

  Lane lane() {
    return lane;
  }

  /**
   * Adds a row; {@link #publishDue} is to follow.
   *
   * @param number the row's number in its task, from 1
   * @throws SfException VALUE_INVALID and the like, if this row cannot be written; it leaves no
   *     trace
   */
  void append(InternalRow row, long number) throws InterruptedException {
    Blocked to = only != null ? only : byTable(row);
    encoder.fill(row, to.binding);
    try {
      sender.checkRow(to.block);
    } catch (SfException e) {
      to.block.cancelRow();
      throw e;
    }
    long bytes = to.block.rowBytes();
    to.block.endRow();
    to.gathered += bytes;
    gathered += bytes;
    if (to.block.rows() == 1) {
      to.firstRow = number;
    }
    to.lastRow = number;
    unpublished++;
    last = to;
  }

  /**
   * Now and then publishes what is gathered, waiting for room.
   *
   * @throws SfException the sender's terminal error, or FRAME_TOO_LARGE for an earlier row, where
   *     the servers have come to take less
   */
  void publishDue() throws InterruptedException {
    boolean large = only == null && gathered >= Math.max(frameBytes, MAX_GATHERED_BYTES);
    if (unpublished >= frameRows || large) {
      publishAll();
    } else if (last.block.rows() >= last.lookAt) {
      look(last, last.block.rows());
    }
  }

  /** Publishes a block that is full; else guesses when to look again. */
  private void look(Blocked to, int rows) throws InterruptedException {
    long bytes = to.block.encodedBytes();
    long symbolsNow = dictionaryBytes();
    long newSymbols = symbolsNow - symbolBytes;
    symbolBytes = symbolsNow;
    if (sender.mustRetire()) {
      publishAll();
      return;
    }
    if (bytes >= frameBytes) {
      publish(to);
      return;
    }
    long perRow = Math.max(1, bytes / rows);
    long more = Math.min(MAX_UNLOOKED_ROWS, (frameBytes - bytes) / perRow / 2);
    long symbolsPerRow = newSymbols / Math.max(1, rows - to.lookedAt);
    if (symbolsPerRow > 0) {
      more = Math.min(more, MAX_UNLOOKED_SYMBOL_BYTES / symbolsPerRow);
    }
    to.lookedAt = rows;
    to.lookAt = (int) (rows + Math.max(1, more));
  }

  private Blocked byTable(InternalRow row) {
    if (row.isNullAt(tableOrdinal)) {
      throw FieldWriters.invalid(
          "column '"
              + settings.options().word(SfOption.TABLE_COLUMN)
              + "' (table_column) is null; it must name a table");
    }
    UTF8String name = row.getUTF8String(tableOrdinal);
    Blocked known = byTable.get(name);
    if (known != null) {
      return known;
    }
    if (byTable.size() >= MAX_TABLES) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          "table_column names more than "
              + MAX_TABLES
              + " tables in one task; a connection takes "
              + CONNECTION_TABLES
              + ", those of earlier tasks included.");
    }
    UTF8String copy = UTF8String.fromBytes(name.getBytes());
    String table = new String(name.getBytes(), StandardCharsets.UTF_8);
    Blocked fresh = new Blocked(lane.binding(table, encoder));
    byTable.put(copy, fresh);
    return fresh;
  }

  /** Publishes everything gathered. */
  void publishAll() throws InterruptedException {
    if (only != null) {
      publish(only);
    } else {
      for (Blocked blocked : byTable.values()) {
        publish(blocked);
      }
    }
    unpublished = 0;
  }

  private void publish(Blocked blocked) throws InterruptedException {
    int rows = blocked.block.rows();
    if (rows == 0) {
      return;
    }
    long bytes = blocked.block.encodedBytes();
    FrameLog.Rows named =
        new FrameLog.Rows(task, blocked.block.table(), blocked.firstRow, blocked.lastRow);
    frames.begin(sender.publishedFsn() + 1, named, sender.ackedFsn());
    try {
      lastFsn = sender.publish(blocked.block);
    } finally {
      frames.end(sender.publishedFsn());
    }
    publishedBytes += bytes;
    unpublished = Math.max(0, unpublished - rows);
    gathered -= blocked.gathered;
    blocked.gathered = 0;
    blocked.lookedAt = 0;
    blocked.lookAt = 1;
    lanesSymbolsFull |= sender.mustRetire();
  }

  private long dictionaryBytes() {
    return sender.dictionary().encodedBytes(0, sender.dictionary().size());
  }

  /**
   * Whether the lane has so many symbols that the rest of the task should go to another one; what
   * was added so far is then to be made safe by {@link #commit}.
   */
  boolean wantsNewLane() {
    return lanesSymbolsFull;
  }

  /** Bytes of all rows so far, as encoded. */
  long bytes() {
    long bytes = publishedBytes;
    if (only != null) {
      return bytes + (only.block.rows() == 0 ? 0 : only.block.encodedBytes());
    }
    for (Blocked blocked : byTable.values()) {
      bytes += blocked.block.rows() == 0 ? 0 : blocked.block.encodedBytes();
    }
    return bytes;
  }

  /** The last frame of this task's rows, −1 where nothing was published. */
  long lastFsn() {
    return lastFsn;
  }

  /** Makes everything published safe in the sense of {@code commit_on}; waits as long as needed. */
  void commit() throws InterruptedException {
    publishAll();
    if (lastFsn < 0) {
      return;
    }
    if (settings.options().commitOn().onDisk()) {
      sender.settle();
      sender.checkError();
    } else {
      sender.awaitAcked(lastFsn);
    }
  }

  /** What is known of this task's rows about an error: the range that the frame held. */
  String rangeOf(SfException e) {
    return sender
        .terminalError()
        .flatMap(error -> frames.find(error.fromFsn()))
        .map(
            rows ->
                " The frame is of rows "
                    + rows.fromRow()
                    + " to "
                    + rows.toRow()
                    + " of "
                    + (rows.task().equals(task) ? "this task" : "an earlier " + rows.task())
                    + ", table '"
                    + rows.table()
                    + "'.")
        .orElse("");
  }

  /** Rows of this task in frames that the server acknowledged, as far as that is known. */
  boolean partlyAcknowledged() {
    return lastFsn >= 0 && sender.ackedFsn() >= firstFsn;
  }
}
