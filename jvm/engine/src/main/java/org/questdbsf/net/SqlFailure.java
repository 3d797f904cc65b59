package org.questdbsf.net;

/** Why an SQL request over HTTP gave no result. Messages never hold a credential. */
public final class SqlFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int httpStatus;
  private final transient String words; // may hold a credential
  private final String serverMessage;
  private final int position;

  /**
   * @param words the server's, to be judged
   * @param serverMessage the same, fit to be shown
   */
  SqlFailure(
      int httpStatus,
      String words,
      String serverMessage,
      int position,
      String message,
      Throwable cause) {
    super(message, cause);
    this.httpStatus = httpStatus;
    this.words = words;
    this.serverMessage = serverMessage;
    this.position = position;
  }

  /** Status of the answer; 0 when there was none. */
  public int httpStatus() {
    return httpStatus;
  }

  /**
   * The server's own words, to be judged and never shown; null when it said nothing that could be
   * read, and where the exception comes from another process.
   */
  public String words() {
    return words;
  }

  /** The server's words, fit to be shown; null when it said nothing that could be read. */
  public String serverMessage() {
    return serverMessage;
  }

  /** Where in the SQL text, counted in characters from 0; −1 when not said. */
  public int position() {
    return position;
  }
}
