package org.questdbsf.net;

/** Why an SQL request over HTTP gave no result. Messages never hold a credential. */
public final class SqlFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int httpStatus;
  private final String serverMessage;
  private final int position;

  SqlFailure(int httpStatus, String serverMessage, int position, String message, Throwable cause) {
    super(message, cause);
    this.httpStatus = httpStatus;
    this.serverMessage = serverMessage;
    this.position = position;
  }

  /** Status of the answer; 0 when there was none. */
  public int httpStatus() {
    return httpStatus;
  }

  /** The server's own words; null when it said nothing that could be read. */
  public String serverMessage() {
    return serverMessage;
  }

  /** Where in the SQL text, counted in characters from 0; −1 when not said. */
  public int position() {
    return position;
  }
}
