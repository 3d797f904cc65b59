package org.questdbsf.slot;

import java.nio.ByteBuffer;

/**
 * One piece of a ring: bytes in the layout of {@link SegmentFormat}, and the link to the segment
 * behind it. Bytes go in and come out by bulk copies only: a checksum or an atomic operation on a
 * map whose file is gone ends the whole JVM.
 *
 * <p>The producer writes; the consumer reads what the ring has published. Neither the base nor the
 * link changes once the segment's first frame is published.
 */
class Segment {
  private static final byte[] ZEROS = new byte[1 << 16];

  private final String label;
  private final ByteBuffer bytes;
  private final int capacity;
  private long baseFsn;
  private volatile Segment next;

  /**
   * @param label what messages call it: a file name
   */
  Segment(String label, ByteBuffer bytes, long baseFsn) {
    this.label = label;
    this.bytes = bytes;
    this.capacity = bytes.capacity();
    this.baseFsn = baseFsn;
  }

  final String label() {
    return label;
  }

  final int capacity() {
    return capacity;
  }

  /** FSN of the first frame; of a spare: meaningless. */
  final long baseFsn() {
    return baseFsn;
  }

  /** The segment that follows, null while this is the newest. */
  final Segment next() {
    return next;
  }

  /** Links the segment that follows; its base must be set. */
  final void link(Segment following) {
    next = following;
  }

  /** Whether all frames of this segment are at or below an FSN; never true for the newest. */
  final boolean endsBy(long fsn) {
    Segment n = next;
    return n != null && n.baseFsn - 1 <= fsn;
  }

  /** Turns a spare into a segment that starts at an FSN. */
  final void begin(long firstFsn) {
    baseFsn = firstFsn;
    bytes.put(0, SegmentFormat.header(firstFsn, System.currentTimeMillis() * 1000));
  }

  /**
   * Writes zeros over all of a spare, so that the system finds its pages now and the producer meets
   * no page fault later.
   */
  final void touch() {
    for (int at = 0; at < capacity; at += ZEROS.length) {
      bytes.put(at, ZEROS, 0, Math.min(ZEROS.length, capacity - at));
    }
  }

  /** Copies one frame in; the payload first, so that a header is never there without it. */
  final void write(int at, byte[] header, byte[] payload, int off, int len) {
    bytes.put(at + SegmentFormat.FRAME_HEADER_BYTES, payload, off, len);
    bytes.put(at, header, 0, SegmentFormat.FRAME_HEADER_BYTES);
  }

  /** Copies bytes out. */
  final void read(int at, byte[] dst, int off, int len) {
    bytes.get(at, dst, off, len);
  }

  final ByteBuffer bytes() {
    return bytes;
  }
}
