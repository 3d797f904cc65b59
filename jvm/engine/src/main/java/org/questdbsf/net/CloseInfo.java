package org.questdbsf.net;

/**
 * How a connection ended.
 *
 * @param code the close code that the server sent; {@link #NO_STATUS} for a close frame without
 *     one; {@link #NONE} when no close frame came (FIN, RST, our own abort)
 * @param reason the server's words, or what happened, for people; never null
 * @param cause what went wrong on our side or in the socket; null when nothing did
 * @param orderly true for the codes 1000 and 1001 and a close frame without a code
 */
public record CloseInfo(int code, String reason, Throwable cause, boolean orderly) {

  /** No close frame came. */
  public static final int NONE = -1;

  /** A close frame without a code (RFC 6455, 7.1.5). */
  public static final int NO_STATUS = 1005;

  static CloseInfo ofFrame(int statusCode, String reasonText) {
    int code = statusCode < 0 ? NO_STATUS : statusCode;
    boolean orderly = code == 1000 || code == 1001 || code == NO_STATUS;
    return new CloseInfo(code, reasonText, null, orderly);
  }

  static CloseInfo withoutFrame(String reason, Throwable cause) {
    return new CloseInfo(NONE, reason, cause, false);
  }
}
