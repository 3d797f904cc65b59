package org.questdbsf.testserver;

/** A message that is answered with an error reply: its status and the server's words. */
final class RefusedException extends Exception {
  static final int SCHEMA_MISMATCH = 0x03;
  static final int PARSE_ERROR = 0x05;
  static final int INTERNAL_ERROR = 0x06;
  static final int SECURITY_ERROR = 0x08;
  static final int WRITE_ERROR = 0x09;
  static final int DICTIONARY_GAP = 0x0D;

  private static final long serialVersionUID = 1L;

  private final int status;

  RefusedException(int status, String message) {
    super(message);
    this.status = status;
  }

  int status() {
    return status;
  }
}
