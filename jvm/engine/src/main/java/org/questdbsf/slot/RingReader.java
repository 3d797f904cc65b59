package org.questdbsf.slot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The consumer's cursor in a ring. Used by the consumer's thread only. The keeper may destroy a
 * segment as soon as all its frames are acknowledged; that is safe because {@link #acknowledge}
 * moves the cursor out first, and because nothing at or below the acknowledged FSN is read.
 */
final class RingReader {
  private final RingState state;
  private final CRC32C crc = new CRC32C();
  private final byte[] header = new byte[SegmentFormat.FRAME_HEADER_BYTES];
  private final ByteBuffer headerView = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);

  /** Segment under the cursor, null when the next read has to look it up. */
  private Segment segment;

  private long fsn;
  private int offset;
  private int length;
  private int expectedCrc;

  RingReader(RingState state) {
    this.state = state;
  }

  int frameLength(long wanted) {
    checkReadable();
    if (wanted > state.publishedFsn()) {
      return -1;
    }
    try {
      seek(wanted);
    } catch (InternalError e) { // a fault in a map, which may come out some steps late
      throw damaged("cannot be read", e);
    }
    return length;
  }

  void copyFrame(long wanted, byte[] dst, int off) {
    if (frameLength(wanted) < 0) {
      throw new IllegalArgumentException("FSN " + wanted + " is not published yet");
    }
    boolean good;
    try {
      segment.read(offset + SegmentFormat.FRAME_HEADER_BYTES, dst, off, length);
      crc.reset();
      crc.update(header, 4, 4);
      crc.update(dst, off, length);
      good = (int) crc.getValue() == expectedCrc;
    } catch (InternalError e) {
      throw damaged("cannot be read", e);
    }
    if (!good) {
      throw damaged("does not match its checksum", null);
    }
  }

  void acknowledge(long upTo) {
    checkReadable();
    long acked = Math.min(upTo, state.publishedFsn());
    if (acked <= state.ackedFsn) {
      return;
    }
    if (segment != null && segment.endsBy(acked)) {
      segment = null;
    }
    state.ackedFsn = acked;
  }

  private void checkReadable() {
    if (state.closed) {
      throw new SfException(ErrorCode.SENDER_CLOSED, "slot " + state.slot + ": the ring is closed");
    }
  }

  private void seek(long wanted) {
    if (wanted <= state.ackedFsn) {
      throw new IllegalArgumentException(
          "FSN " + wanted + " is acknowledged already (up to " + state.ackedFsn + ")");
    }
    if (segment != null && wanted == fsn) {
      return;
    }
    if (segment == null || wanted < fsn) {
      enter(state.head);
    }
    while (segment.next() != null && segment.next().baseFsn() <= wanted) {
      enter(segment.next());
    }
    if (fsn < segment.baseFsn()) {
      fsn = segment.baseFsn();
      readHeader();
    }
    while (fsn < wanted) {
      offset += SegmentFormat.FRAME_HEADER_BYTES + length;
      fsn++;
      readHeader();
    }
  }

  /** Stands before a segment's first frame. Reads nothing: it may be gone already. */
  private void enter(Segment s) {
    segment = s;
    fsn = s.baseFsn() - 1;
    offset = SegmentFormat.HEADER_BYTES;
    length = 0;
  }

  private void readHeader() {
    // A fault leaves the old bytes in place: they must not pass for this frame's.
    headerView.putLong(0, 0);
    int room = segment.capacity() - offset - SegmentFormat.FRAME_HEADER_BYTES;
    int len = 0;
    if (room > 0) {
      segment.read(offset, header, 0, SegmentFormat.FRAME_HEADER_BYTES);
      len = headerView.getInt(4);
    }
    if (len < 1 || len > room) {
      throw damaged("has the impossible length " + len, null);
    }
    length = len;
    expectedCrc = headerView.getInt(0);
  }

  private SfException damaged(String what, InternalError fault) {
    final Segment where = segment;
    segment = null;
    Throwable cause = fault;
    try {
      state.storage.fence();
    } catch (InternalError late) {
      cause = late;
    }
    return new SfException(
        ErrorCode.DISK_FAILED,
        "slot "
            + state.slot
            + ", segment "
            + (where == null ? "?" : where.label())
            + ", offset "
            + offset
            + ": frame "
            + fsn
            + " "
            + what
            + "; the disk or another program changed it. Stop the sender and look at the slot with"
            + " 'questdb-sf slots show'",
        cause);
  }
}
