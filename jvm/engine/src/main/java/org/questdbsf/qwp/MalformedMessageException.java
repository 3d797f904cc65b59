package org.questdbsf.qwp;

/**
 * Bytes that are not a valid message, with the offset of the first one that does not fit, counted
 * from the start of the message. {@link Reason#DICTIONARY_GAP} is kept apart because a server
 * answers it with a status of its own (facts of the wire format, section on symbols).
 */
public final class MalformedMessageException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why the message was refused. */
  public enum Reason {
    /** The bytes break the format. */
    PARSE,
    /** The delta starts above the end of the connection's dictionary. */
    DICTIONARY_GAP
  }

  private final Reason reason;
  private final int offset;

  MalformedMessageException(Reason reason, int offset, String message) {
    super("offset " + offset + ": " + message);
    this.reason = reason;
    this.offset = offset;
  }

  /** Why the message was refused. */
  public Reason reason() {
    return reason;
  }

  /** Offset in the message, 0 for its first byte. */
  public int offset() {
    return offset;
  }
}
