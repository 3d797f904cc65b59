package org.questdbsf.sender;

/**
 * Which frame carries which number on the present connection. The server numbers the messages of a
 * connection from 0; frames are sent in the order of their FSN, after any dictionary messages, so
 * that {@code fsn = fsnAtZero + sequence} (client spec, section on frame sequence numbers). Loop's
 * thread only.
 */
final class InFlight {
  private long nextFsn;
  private long nextSequence;
  private long dictionaryMessages;
  private long okFsn;

  /** A new connection, which begins at a frame. */
  void begin(long fsn) {
    nextFsn = fsn;
    nextSequence = 0;
    dictionaryMessages = 0;
    okFsn = fsn - 1;
  }

  /** A dictionary message was sent; only before the first frame. */
  void sentDictionary() {
    nextSequence++;
    dictionaryMessages++;
  }

  /** The next frame was sent. */
  void sentFrame() {
    nextSequence++;
    nextFsn++;
  }

  /** Goes on at a later frame; only while nothing that was sent is unacknowledged. */
  void skipTo(long fsn) {
    nextFsn = fsn;
    okFsn = fsn - 1;
  }

  /** The next frame to send. */
  long nextFsn() {
    return nextFsn;
  }

  /** Whether no frame was sent on this connection yet. */
  boolean fresh() {
    return nextSequence == dictionaryMessages;
  }

  /** Whether a message of this number was sent. */
  boolean wasSent(long sequence) {
    return sequence >= 0 && sequence < nextSequence;
  }

  /** Whether the message of this number was one of the dictionary. */
  boolean isDictionary(long sequence) {
    return sequence < dictionaryMessages;
  }

  /** The sequence, or the last one sent where a server claims more. */
  long clamp(long sequence) {
    return Math.min(sequence, nextSequence - 1);
  }

  /**
   * The frame of a sequence. For a dictionary message, and for what was sent before a skip, it is
   * some frame below the first unacknowledged one.
   */
  long fsnOf(long sequence) {
    return nextFsn - (nextSequence - sequence);
  }

  /** An OK reached a frame. */
  void ok(long fsn) {
    okFsn = Math.max(okFsn, fsn);
  }

  /** The last frame an OK reached; below the first of this connection when there was none. */
  long okFsn() {
    return okFsn;
  }

  /** Whether a frame was sent on this connection. */
  boolean sent(long fsn) {
    return fsn < nextFsn && !fresh();
  }
}
