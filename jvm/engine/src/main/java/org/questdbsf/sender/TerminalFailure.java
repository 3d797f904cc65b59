package org.questdbsf.sender;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** The send loop cannot go on: what the handler is told, and what callers are thrown. */
final class TerminalFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient SenderError error;
  private final ErrorCode code;

  TerminalFailure(ErrorCode code, SenderError error, Throwable cause) {
    super(error.message(), cause);
    this.error = error;
    this.code = code;
  }

  SenderError error() {
    return error;
  }

  /** A fresh exception for one caller: a shared one would show another thread's stack. */
  SfException toException(String sender) {
    // Category and policy tell about a refusal; where there was none, the code says it better.
    String what = error.status() < 0 ? error.message() : error.describe();
    return new SfException(code, "sender '" + sender + "' stopped: " + what, this);
  }
}
