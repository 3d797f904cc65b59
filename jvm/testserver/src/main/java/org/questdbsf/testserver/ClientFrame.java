package org.questdbsf.testserver;

/**
 * What a client sent, as one WebSocket frame.
 *
 * @param payload unmasked; empty for {@link Kind#TOO_BIG} and {@link Kind#BROKEN}, of which nothing
 *     but the header was read
 */
record ClientFrame(Kind kind, byte[] payload) {
  private static final byte[] NOTHING = {};

  enum Kind {
    MESSAGE(false),
    TEXT(true),
    /** Part of a message in several frames. */
    FRAGMENT(true),
    PING(false),
    PONG(false),
    CLOSE(true),
    /** A header that announces more than the cap. */
    TOO_BIG(true),
    /** No frame of the WebSocket protocol. */
    BROKEN(true);

    /** Whether nothing that comes behind it counts. */
    final boolean last;

    Kind(boolean last) {
      this.last = last;
    }
  }

  static ClientFrame of(Kind kind) {
    return new ClientFrame(kind, NOTHING);
  }

  /** The code that a CLOSE is answered with: its own, unless that may not be on the wire. */
  int answerTo() {
    if (payload.length < 2) {
      return 1000;
    }
    int code = (payload[0] & 0xFF) << 8 | payload[1] & 0xFF;
    if (code == 1004 || code >= 2000 && code < 3000) {
      return 1002;
    }
    boolean sendable = code >= 1000 && code < 5000 && code != 1005 && code != 1006 && code != 1015;
    return sendable ? code : 1000;
  }
}
