package org.questdbsf.error;

/**
 * Stable codes of every error this project raises, each with its meaning and what to do; the page
 * {@code docs/errors.md} is made from them. A code never changes its meaning; new ones are added at
 * the end of their group.
 */
public enum ErrorCode {
  // Settings
  CONFIG_UNKNOWN_KEY(
      "An option or connect-string key that does not exist.",
      "Take the spelling that the message suggests; `options.md` lists all of them."),
  CONFIG_INVALID_VALUE(
      "A value of the wrong type, out of range, or naming a column that is not there.",
      "The message says what is accepted."),
  CONFIG_CONFLICT(
      "Two settings that exclude each other, or one that has no effect beside the others.",
      "The message names both; drop one."),
  CONFIG_MISSING("A setting that is needed is not there.", "The message names it."),
  SECRET_UNRESOLVED(
      "A `${env:NAME}` or `${file:/path}` that cannot be resolved on this host.",
      "Set the variable, or make the file readable, on every executor. Secrets are resolved at each"
          + " connect, so that no restart is needed."),

  // Rows
  NAME_INVALID(
      "A table or column name that QuestDB cannot hold.",
      "Rename the column (`withColumnRenamed`), or the table."),
  VALUE_INVALID(
      "A value that the column cannot hold unchanged.",
      "Mend the value, or say what shall happen: `on_row_error`, `nulls_*`, `sentinel_values`;"
          + " see `types.md`."),
  TYPE_CONFLICT(
      "A column was written with two types.", "Keep to one type for each column of a table."),
  TYPE_UNSUPPORTED(
      "A column whose type has no counterpart, or not the one that was asked for.",
      "Cast or drop the column, name a type in `column_types`, or set `unsupported`."),
  FRAME_TOO_LARGE(
      "One row, or one frame that waits, is larger than a segment or than every server takes.",
      "Make the row smaller, raise `sf_max_segment_bytes`, or raise the server's receive buffer"
          + " (`http.recv.buffer.size`)."),
  LIMIT_EXCEEDED(
      "A limit of the wire format: columns, rows, dimensions, bytes of a name.",
      "Select fewer columns, or split the rows."),
  MESSAGE_MALFORMED(
      "Bytes that are no QWP message.",
      "Only tools that decode frames raise it. For a frame of a slot: `questdb-sf slots show`."),
  SYMBOLS_EXHAUSTED(
      "The symbol dictionary of a connection or slot is full.",
      "Write columns of very many distinct values as VARCHAR: take them out of `symbols`."),

  // Slots and disks
  SLOT_LOCKED(
      "Another process holds the slot.",
      "Give the second sender a `sender_id` of its own, or end the process that is named."),
  SLOT_REFUSED(
      "The slot is damaged, or does not belong to the server it would be sent to. Nothing was"
          + " changed.",
      "`questdb-sf slots show SLOT`, `slots extract SLOT FILE`, then `slots repair SLOT`; see"
          + " `operating.md`."),
  SLOT_NEWER_FORMAT(
      "A newer version, or another client, wrote the slot in a format that this one does not know."
          + " Nothing was changed.",
      "Drain it with the program that wrote it, or use another `sender_id`."),
  SLOT_FILESYSTEM(
      "The file system below `sf_dir` cannot be used, for example NFS; or the native library for"
          + " locks cannot be loaded.",
      "Use a local disk. JNA needs a directory it may run code from: `-Djna.tmpdir=DIR`."),
  DISK_FULL(
      "No room for another segment, or less free than `sf_min_free_bytes`.",
      "Make room, or bring the server back so that slots empty. Rows already in slots are safe."),
  DISK_FAILED(
      "Reading, writing or forcing a file failed.",
      "Look at the kernel's log for the disk. After a failed force a slot takes no more frames and"
          + " is still sent from."),
  BACKPRESSURE_TIMEOUT(
      "The budget (`sf_max_total_bytes`) stayed full for longer than `sf_append_deadline_millis`."
          + " Only the plain `Sender` raises it; a Spark task waits.",
      "The message says which server is away and since when. Bring it back, or raise the budget."),

  // Servers
  CONNECT_FAILED(
      "No server accepted a connection.",
      "The message has each server's cause: refused, time-out, unknown name, certificate, role."),
  AUTH_FAILED(
      "Every server answered 401 or 403.",
      "Check `username` and `password`, or `token`, and the user's permissions."),
  DURABLE_ACK_UNAVAILABLE(
      "No server grants durable acknowledgements.",
      "Use `commit_on=ack`, or servers with replication to an object store."),
  OUTAGE_BUDGET_EXHAUSTED(
      "No server was there, or none took the next frame, for `reconnect_max_duration_millis`.",
      "Bring a server back, or mend what its words in the message name, and start again; with a"
          + " slot, its rows are still there."),
  SERVER_REJECTED(
      "The server refused a frame, and sending it again cannot help, or is not wanted"
          + " (`on_*_error`).",
      "Read the server's words in the message, and [what they"
          + " mean](operating.md#what-the-server-refuses). Mend the table, the rows or the server;"
          + " or have such frames kept aside with `on_*_error=drop` and a place for them"
          + " (`dead_letter_dir`, or `sf_dir` of a plain `Sender`)."),
  POISON_FRAME(
      "The same frame was refused again and again, while others went through or though nothing"
          + " about it can pass.",
      "As for `SERVER_REJECTED`; the message has the server's last words."),
  PROTOCOL_VIOLATION(
      "The server answered what the protocol does not allow, or closed for such a reason.",
      "Check that `addr` is a QuestDB that speaks QWP, with no proxy that changes WebSocket"
          + " traffic; then report it."),

  // Tables
  TABLE_MISSING(
      "The table is not there, and may not be created.",
      "Create it, or set `create_table=on`, or correct `table`."),
  TABLE_MISMATCH(
      "The table does not fit the rows, or lacks what was asked for (keys, designated timestamp).",
      "Change the table or the option that the message names."),

  // Life
  SENDER_CLOSED("The sender is closed.", "Open a new one."),
  INTERNAL_FAULT("A fault in this library.", "Please report it, with the whole message."),
  SPARK_UNSUPPORTED(
      "A use of Spark that this sink does not support.", "The message says what to use instead."),
  VERSION_MISMATCH(
      "Two versions of this library meet: Python package and jar, or driver and executor.",
      "The message names both versions and where they were loaded from; leave one of them.");

  private final String meaning;
  private final String advice;

  ErrorCode(String meaning, String advice) {
    this.meaning = meaning;
    this.advice = advice;
  }

  /** What went wrong, in general; the message of an error says what in particular. Markdown. */
  public String meaning() {
    return meaning;
  }

  /** What to do, in general. Markdown. */
  public String advice() {
    return advice;
  }
}
