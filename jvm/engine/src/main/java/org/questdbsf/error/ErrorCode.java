package org.questdbsf.error;

/**
 * Stable codes of every error this project raises. A code never changes its meaning; new ones are
 * added at the end of their group.
 */
public enum ErrorCode {
  /** An option or connect-string key that does not exist. */
  CONFIG_UNKNOWN_KEY,
  /** A value out of range, or of the wrong type. */
  CONFIG_INVALID_VALUE,
  /** Two settings that exclude each other. */
  CONFIG_CONFLICT,
  /** A required setting is missing. */
  CONFIG_MISSING,
  /** A {@code ${env:..}} or {@code ${file:..}} reference that cannot be resolved. */
  SECRET_UNRESOLVED,

  /** A table or column name that QuestDB cannot hold. */
  NAME_INVALID,
  /** A value that QuestDB cannot hold in this column. */
  VALUE_INVALID,
  /** A column set to two types. */
  TYPE_CONFLICT,
  /** A type that has no counterpart in QuestDB. */
  TYPE_UNSUPPORTED,
  /** One row, or one frame, is larger than a segment or the server's cap. */
  FRAME_TOO_LARGE,
  /** A limit of the wire format is exceeded. */
  LIMIT_EXCEEDED,
  /** Bytes that are not a QWP message. */
  MESSAGE_MALFORMED,
  /** The symbol dictionary is full. */
  SYMBOLS_EXHAUSTED,

  /** The slot is held by another process. */
  SLOT_LOCKED,
  /** The slot cannot be recovered without an operator. */
  SLOT_REFUSED,
  /** A slot written by a newer version. */
  SLOT_NEWER_FORMAT,
  /** The slot's file system cannot be used. */
  SLOT_FILESYSTEM,
  /** No room on the disk. */
  DISK_FULL,
  /** Any other failure of the disk. */
  DISK_FAILED,
  /** The budget stayed full for longer than the append deadline. */
  BACKPRESSURE_TIMEOUT,

  /** No host accepted a connection. */
  CONNECT_FAILED,
  /** 401 or 403. */
  AUTH_FAILED,
  /** No host grants durable acknowledgements. */
  DURABLE_ACK_UNAVAILABLE,
  /** The outage lasted longer than its budget. */
  OUTAGE_BUDGET_EXHAUSTED,
  /** The server rejected a frame and the policy is to halt. */
  SERVER_REJECTED,
  /** The same frame was refused too often. */
  POISON_FRAME,
  /** The server broke the protocol, or closed for such a reason. */
  PROTOCOL_VIOLATION,

  /** The table is not there and may not be created. */
  TABLE_MISSING,
  /** The table does not fit the rows, or lacks what was asked for. */
  TABLE_MISMATCH,

  /** The sender is closed. */
  SENDER_CLOSED,
  /** A fault in this library; please report it. */
  INTERNAL_FAULT,
  /** A use of Spark that this sink does not support. */
  SPARK_UNSUPPORTED
}
