package org.questdbsf.slot;

import java.io.IOException;

/**
 * Where a ring's segments live. All methods but {@link #fence} are called by the keeper's thread,
 * and by one thread at a time.
 */
interface SegmentStorage {
  /** Makes an empty segment. */
  Segment create() throws IOException;

  /** Destroys segments that nobody reads any more, oldest first; stops at the first failure. */
  void remove(Segment segment) throws IOException;

  /** Forces a segment's bytes. */
  void force(Segment segment) throws IOException;

  /** Forces the names of all segments made or removed so far. */
  void forceNames() throws IOException;

  /** Writes down how far the ring is; forced when something is to be removed on its strength. */
  void writeMarks(Marks marks, boolean force) throws IOException;

  /**
   * Makes a fault in the calling thread's earlier accesses to a segment come out here, as {@link
   * InternalError}. Called by the producer at most once per {@value
   * SegmentRing#FENCE_INTERVAL_BYTES} bytes, and by the consumer when a checksum is wrong.
   */
  void fence();

  /** Whether segments outlive the process. */
  boolean durable();

  /** Bytes that could still be written before the file system is full; no limit: MAX_VALUE. */
  long usableBytes() throws IOException;
}
