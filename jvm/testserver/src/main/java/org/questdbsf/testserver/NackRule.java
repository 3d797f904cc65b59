package org.questdbsf.testserver;

/**
 * Refuses messages with an error reply, without applying them.
 *
 * @param status status byte, for example 0x03 SCHEMA_MISMATCH, 0x09 WRITE_ERROR
 * @param message the server's words, at most 1024 bytes are sent
 * @param table only messages with rows for this table; null: all
 * @param afterMessages how many (matching) messages are let through first, counted over all
 *     connections of the port since the rule was set
 * @param times how many messages are refused; null: all that follow
 */
public record NackRule(
    int status, String message, String table, long afterMessages, Integer times) {

  /** Refuses every message from now on. */
  public static NackRule always(int status, String message) {
    return new NackRule(status, message, null, 0, null);
  }

  /** Refuses the next message only. */
  public static NackRule once(int status, String message) {
    return new NackRule(status, message, null, 0, 1);
  }
}
