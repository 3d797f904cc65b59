package org.questdbsf.sender;

/**
 * Counts connections that ended after the same frame was sent, with no word about it. One such end
 * is an outage like any other; many in a row may mean that the server cannot read what it gets: it
 * ends a connection whose framing it does not understand without a close frame. The frame is never
 * given up for that, since a broken network looks the same. Loop's thread only.
 */
final class UnansweredEnds {
  /** So many in a row are told; then twice as many, and so on. */
  static final int FIRST_TOLD = 5;

  private long suspect = -1;
  private int ends;
  private int nextTold;
  private long firstEnd;

  /**
   * A connection ended at {@code now} (nanoseconds) after the frame at the head of the line was
   * sent.
   *
   * @return how many have ended so in a row
   */
  int ended(long headFsn, long now) {
    if (suspect != headFsn) {
      suspect = headFsn;
      firstEnd = now;
      ends = 0;
      nextTold = FIRST_TOLD;
    }
    return ++ends;
  }

  /** When the first connection of the row ended, in nanoseconds. */
  long firstEnd() {
    return firstEnd;
  }

  /** Whether this is an end to tell people of. */
  boolean toBeTold() {
    if (ends < nextTold) {
      return false;
    }
    nextTold *= 2;
    return true;
  }
}
