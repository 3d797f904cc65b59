package org.questdbsf.sender;

/**
 * Why a connection was given up.
 *
 * @param kind what it means for the host
 * @param cause for people
 * @param pauseMillis how long to wait before the next connection, besides all pacing
 */
record Loss(Kind kind, String cause, long pauseMillis) {
  /** What it means for the host. */
  enum Kind {
    /** The host or the way to it failed: others first. */
    TRANSPORT,
    /** It is about a frame, not about the host. */
    FRAME,
    /** Nothing is wrong: a connection has one dictionary, and the next frame needs an empty one. */
    DICTIONARY,
    /** The host does not take writes: like a role reject. */
    HOST_REFUSES,
    /** The head frame is larger than the host takes. */
    CAP
  }

  static Loss of(Kind kind, String cause) {
    return new Loss(kind, cause, 0);
  }
}
