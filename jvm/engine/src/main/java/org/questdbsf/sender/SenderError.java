package org.questdbsf.sender;

import java.time.Instant;
import java.util.Objects;

/**
 * One refusal by the server, or one end of a sender (client spec, section on errors).
 *
 * @param category what kind it is
 * @param policy what was done about it
 * @param status status byte of the server's error frame, 0 to 255; −1 where the error was made here
 * @param messageSequence the server's number of the message on that connection, from 0; −1 where
 *     the error was made here
 * @param fromFsn first frame it is about
 * @param toFsn last frame it is about; below {@code fromFsn} when it is about none
 * @param table the table, or null unless the frame held exactly one
 * @param rows rows in the refused frame, or 0 where that is not known
 * @param message the server's words, or ours; never null
 * @param endpoint {@code host:port} of the server, or null where none was connected
 * @param at when it was received
 * @param deadLetter where the dropped frame was kept, for people, or null
 */
public record SenderError(
    Category category,
    Policy policy,
    int status,
    long messageSequence,
    long fromFsn,
    long toFsn,
    String table,
    int rows,
    String message,
    String endpoint,
    Instant at,
    String deadLetter) {

  public SenderError {
    Objects.requireNonNull(category, "category");
    Objects.requireNonNull(policy, "policy");
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(at, "at");
  }

  /** One line for a log or an exception: category, frames, table, host and the server's words. */
  public String describe() {
    StringBuilder text = new StringBuilder(128).append(category);
    if (status >= 0) {
      text.append(String.format(" (status 0x%02X)", status));
    }
    if (toFsn >= fromFsn) {
      text.append(fromFsn == toFsn ? ", frame " + fromFsn : ", frames " + fromFsn + ".." + toFsn);
    }
    if (table != null) {
      text.append(", table '").append(table).append('\'');
    }
    if (rows > 0) {
      text.append(", ").append(rows).append(rows == 1 ? " row" : " rows");
    }
    if (endpoint != null) {
      text.append(", host ").append(endpoint);
    }
    text.append(", policy ").append(policy).append(": ").append(message);
    return deadLetter == null ? text.toString() : text + " [kept in " + deadLetter + "]";
  }

  SenderError withMessage(String other) {
    return new SenderError(
        category,
        policy,
        status,
        messageSequence,
        fromFsn,
        toFsn,
        table,
        rows,
        other,
        endpoint,
        at,
        deadLetter);
  }

  SenderError withDeadLetter(String where) {
    return new SenderError(
        category,
        policy,
        status,
        messageSequence,
        fromFsn,
        toFsn,
        table,
        rows,
        message,
        endpoint,
        at,
        where);
  }

  /** The same refusal, now the end of the sender. */
  SenderError asEnd(Category end, String other) {
    return new SenderError(
        end,
        Policy.HALT,
        status,
        messageSequence,
        fromFsn,
        toFsn,
        table,
        rows,
        other,
        endpoint,
        at,
        deadLetter);
  }
}
