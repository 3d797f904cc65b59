package org.questdbsf.error;

/**
 * The one exception of this project: a stable {@link ErrorCode}, and a message that says what went
 * wrong, the value, where (table, column, slot, segment, offset, FSN) and what to do next. Messages
 * never hold a secret.
 */
public class SfException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  public SfException(ErrorCode code, String message) {
    this(code, message, null);
  }

  public SfException(ErrorCode code, String message, Throwable cause) {
    super(code + ": " + message, cause);
    this.code = code;
  }

  /** The stable code, also the first word of the message. */
  public ErrorCode code() {
    return code;
  }
}
