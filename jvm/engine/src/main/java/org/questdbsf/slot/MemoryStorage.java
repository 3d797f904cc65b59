package org.questdbsf.slot;

import java.nio.ByteBuffer;

/**
 * Segments on the heap. Heap arrays, not direct memory: a late reader then sees old bytes instead
 * of ending the JVM, and dropping one needs no cleaner. One array is kept for the next spare, so
 * that a ring that keeps up allocates nothing.
 */
final class MemoryStorage implements SegmentStorage {
  private final int segmentBytes;
  private byte[] kept;
  private long made;

  MemoryStorage(int segmentBytes) {
    this.segmentBytes = segmentBytes;
  }

  @Override
  public Segment create() {
    byte[] array = kept != null ? kept : new byte[segmentBytes];
    kept = null;
    return new Segment("memory-" + made++, ByteBuffer.wrap(array), 0);
  }

  @Override
  public void remove(Segment segment) {
    kept = segment.bytes().array();
  }

  @Override
  public void force(Segment segment) {}

  @Override
  public void forceNames() {}

  @Override
  public void writeMarks(Marks marks, boolean force) {}

  @Override
  public void fence() {}

  @Override
  public boolean durable() {
    return false;
  }

  @Override
  public long usableBytes() {
    return Long.MAX_VALUE;
  }
}
