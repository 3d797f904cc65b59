package org.questdbsf.sender;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * A {@link ConnectionGate} does not let frames through on this connection. Terminal: it will not
 * open by itself (a table that does not fit). Otherwise the connection is given up and the next
 * attempt asks again, paced like any other reconnect.
 */
public final class GateClosed extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean terminal;
  private final String table;

  public GateClosed(boolean terminal, SfException error) {
    this(terminal, null, error);
  }

  private GateClosed(boolean terminal, String table, SfException error) {
    super(error.getMessage(), error);
    this.terminal = terminal;
    this.table = table;
  }

  /** A gate that is closed by this table. */
  static GateClosed of(
      boolean terminal, ErrorCode code, String table, String message, Exception cause) {
    return new GateClosed(terminal, table, new SfException(code, message, cause));
  }

  public boolean terminal() {
    return terminal;
  }

  /** The table that closed it, or null. */
  public String table() {
    return table;
  }

  /** What is wrong, and what to do. */
  public SfException error() {
    return (SfException) getCause();
  }
}
