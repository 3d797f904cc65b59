package org.questdbsf.sender;

import org.questdbsf.net.QwpConnection;

/**
 * A connection that may be shipped on.
 *
 * @param connection the connection
 * @param number marks its mail
 * @param gateVersion version of the gate that admitted it
 */
record Link(QwpConnection connection, int number, long gateVersion) {
  String host() {
    return connection.endpoint().toString();
  }

  /** Whether a message of this size is more than the server takes. */
  boolean tooLarge(long bytes) {
    int cap = connection.maxBatchBytes();
    return cap > 0 && bytes > cap;
  }
}
