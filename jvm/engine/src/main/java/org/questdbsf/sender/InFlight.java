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

  /** Bytes of the frames from {@link #firstSize} to the last one sent. */
  private final IntQueue sizes = new IntQueue();

  private long firstSize;

  /** A new connection, which begins at a frame. */
  void begin(long fsn) {
    nextFsn = fsn;
    nextSequence = 0;
    dictionaryMessages = 0;
    okFsn = fsn - 1;
    forgetSizes();
  }

  private void forgetSizes() {
    sizes.clear();
    firstSize = nextFsn;
  }

  /** A dictionary message was sent; only before the first frame. */
  void sentDictionary() {
    nextSequence++;
    dictionaryMessages++;
  }

  /** The next frame was sent, of so many bytes. */
  void sentFrame(int bytes) {
    sizes.add(bytes);
    nextSequence++;
    nextFsn++;
  }

  /** Bytes of frames that were sent and are done with now, up to this one; each counted once. */
  long settle(long fsn) {
    long bytes = 0;
    for (; firstSize <= fsn && firstSize < nextFsn; firstSize++) {
      bytes += sizes.removeFirst();
    }
    return bytes;
  }

  /** Goes on at a later frame; only while nothing that was sent is unacknowledged. */
  void skipTo(long fsn) {
    nextFsn = fsn;
    okFsn = fsn - 1;
    forgetSizes();
  }

  /** The next frame to send. */
  long nextFsn() {
    return nextFsn;
  }

  /** Whether no frame was sent on this connection yet. */
  boolean fresh() {
    return nextSequence == dictionaryMessages;
  }

  /** The number of the message sent last, −1 before the first. */
  long lastSequence() {
    return nextSequence - 1;
  }

  /** Whether no message was sent behind the one of this number. */
  boolean isLastSent(long sequence) {
    return sequence == nextSequence - 1;
  }

  /** Whether the message of this number was one of the dictionary. */
  boolean isDictionary(long sequence) {
    return sequence < dictionaryMessages;
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
