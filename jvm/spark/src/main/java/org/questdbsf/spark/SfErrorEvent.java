package org.questdbsf.spark;

import java.io.Serializable;
import java.time.Instant;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.Policy;
import org.questdbsf.sender.SenderError;

/**
 * A refusal by the server, the end of a lane, or a row that cannot be written; as handlers on the
 * driver see it.
 *
 * @param category name of the engine's {@link org.questdbsf.sender.Category}; for a row that cannot
 *     be written the name of its {@link org.questdbsf.error.ErrorCode}
 * @param policy what was done about it, a name of {@link Policy}
 * @param status status byte of the server's error frame, −1 where the error was made here
 * @param message the server's words, or ours
 * @param table the table, or null where it is not known
 * @param fromFsn first frame, −1 for none
 * @param toFsn last frame, −1 for none
 * @param fromRow first row by its number in the task, from 1; 0 where it is not known
 * @param toRow last row
 * @param queryId Spark's id of the query that the rows are of
 * @param batch their micro-batch, −1 in a batch write or where it is not known
 * @param partition their partition, −1 where it is not known
 * @param executorId Spark's id of the executor, "driver" in local mode
 * @param host the executor's host
 * @param slot directory of the slot, or the lane's name in memory
 * @param server {@code host:port}, or null where none was connected
 * @param at when it was noticed
 * @param deadLetter where a dropped frame is kept, or null
 */
public record SfErrorEvent(
    String category,
    String policy,
    int status,
    String message,
    String table,
    long fromFsn,
    long toFsn,
    long fromRow,
    long toRow,
    String queryId,
    long batch,
    int partition,
    String executorId,
    String host,
    String slot,
    String server,
    Instant at,
    String deadLetter)
    implements Serializable {

  private static final FrameLog.Rows UNKNOWN =
      new FrameLog.Rows(new TaskRef(null, -1, -1), null, 0, 0);

  /** What the engine said of frames of a lane, with the rows that they hold. */
  static SfErrorEvent of(SenderError error, String slot, FrameLog frames, String queryId) {
    boolean aboutFrames = error.toFsn() >= error.fromFsn();
    FrameLog.Rows rows = aboutFrames ? frames.find(error.fromFsn()).orElse(UNKNOWN) : UNKNOWN;
    TaskRef task = rows.task();
    return new SfErrorEvent(
        error.category().name(),
        error.policy().name(),
        error.status(),
        error.message(),
        error.table() == null ? rows.table() : error.table(),
        aboutFrames ? error.fromFsn() : -1,
        aboutFrames ? error.toFsn() : -1,
        rows.fromRow(),
        rows.toRow(),
        task.queryId() == null ? queryId : task.queryId(),
        task.batch(),
        task.partition(),
        TaskMetrics.executor(),
        TaskMetrics.host(),
        slot,
        error.endpoint(),
        error.at(),
        error.deadLetter());
  }

  /** A slot that cannot be opened to be sent; {@code givenUp}: nobody tries again. */
  static SfErrorEvent of(SfException error, boolean givenUp, String slot, String queryId) {
    return new SfErrorEvent(
        error.code().name(),
        (givenUp ? Policy.HALT : Policy.RETRY).name(),
        -1,
        RowEncoder.withoutCode(error.code(), error.getMessage()),
        null,
        -1,
        -1,
        0,
        0,
        queryId,
        -1,
        -1,
        TaskMetrics.executor(),
        TaskMetrics.host(),
        slot,
        null,
        Instant.now(),
        null);
  }

  /** A row that fails its task. */
  static SfErrorEvent of(SfException error, TaskRef task, String table, long row) {
    return new SfErrorEvent(
        error.code().name(),
        Policy.HALT.name(),
        -1,
        RowEncoder.withoutCode(error.code(), error.getMessage()),
        table,
        -1,
        -1,
        row,
        row,
        task.queryId(),
        task.batch(),
        task.partition(),
        TaskMetrics.executor(),
        TaskMetrics.host(),
        null,
        null,
        Instant.now(),
        null);
  }

  /** One line for a log. */
  public String describe() {
    StringBuilder text = new StringBuilder(160).append(category);
    if (status >= 0) {
      text.append(String.format(" (status 0x%02X)", status));
    }
    if (fromFsn >= 0) {
      text.append(fromFsn == toFsn ? ", frame " + fromFsn : ", frames " + fromFsn + ".." + toFsn);
    }
    if (table != null) {
      text.append(", table '").append(table).append('\'');
    }
    if (fromRow > 0) {
      text.append(", rows ").append(fromRow).append(" to ").append(toRow);
      text.append(" of partition ").append(partition);
      text.append(batch < 0 ? "" : " of batch " + batch);
    }
    if (server != null) {
      text.append(", host ").append(server);
    }
    text.append(", policy ").append(policy).append(": ").append(message);
    return deadLetter == null ? text.toString() : text + " [kept in " + deadLetter + "]";
  }

  void appendJson(JsonObject to) {
    to.put("category", category).put("policy", policy).put("status", status);
    to.put("message", message).put("table", table);
    to.put("from_fsn", fromFsn).put("to_fsn", toFsn);
    to.put("from_row", fromRow).put("to_row", toRow);
    to.put("query_id", queryId).put("batch", batch).put("partition", partition);
    to.put("executor", executorId).put("host", host).put("slot", slot).put("server", server);
    to.put("at", at.toString()).put("dead_letter", deadLetter);
  }
}
