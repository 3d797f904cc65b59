package org.questdbsf.net;

/** Bytes from the server that are no reply of the protocol; the connection cannot go on. */
final class MalformedReplyException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedReplyException(String message) {
    super(message);
  }
}
