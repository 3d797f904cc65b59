package org.questdbsf.slot;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * Walks one segment file with ordinary reads, never through a map: a map of a truncated or sparse
 * file ends in a fault, a read in an error. Changes nothing. Every length is checked before it is
 * used.
 */
final class SegmentScanner {
  private static final int WINDOW_BYTES = 1 << 18;

  /** So many times the bytes behind a bad frame are read in search of a good one. */
  private static final int SEARCH_FACTOR = 8;

  /** No slot gets there; above it counting on could overflow. */
  private static final long MAX_BASE_FSN = 1L << 62;

  /** What a file turned out to be. */
  enum Kind {
    /** No frame, and nothing but zeros behind the header, if there is one: a spare. */
    EMPTY,
    /** A header, and frames up to a valid end; maybe torn bytes behind it. */
    FRAMES,
    /** A newer version or flag: a newer program must read it. */
    NEWER,
    /** Damage in the header, or in the middle of the frames. */
    DAMAGED
  }

  /**
   * @param baseFsn −1 where there is no valid header
   * @param validEnd offset behind the last good frame
   * @param tornBytes bytes from there to the end of the file where any of them is not zero, else 0
   * @param problem a clause for people when NEWER or DAMAGED, else null
   */
  record Scan(
      Kind kind,
      long fileBytes,
      long baseFsn,
      long frames,
      long validEnd,
      long tornBytes,
      String problem) {

    /** FSN of the last frame; base − 1 when there is none. */
    long lastFsn() {
      return baseFsn + frames - 1;
    }
  }

  private final DiskIo.Reader reader;
  private final long size;
  private final byte[] window = new byte[WINDOW_BYTES];
  private final ByteBuffer view = ByteBuffer.wrap(window).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C crc = new CRC32C();
  private long windowStart;
  private int windowLength;

  private SegmentScanner(DiskIo.Reader reader) throws IOException {
    this.reader = reader;
    this.size = reader.size();
  }

  /**
   * Scans a file.
   *
   * @throws IOException when it cannot be read: no verdict
   */
  static Scan scan(Path file, DiskIo io) throws IOException {
    try (DiskIo.Reader reader = io.open(file)) {
      return new SegmentScanner(reader).scan();
    }
  }

  private Scan scan() throws IOException {
    if (size > Integer.MAX_VALUE) { // first: such a file may be a hole of terabytes
      return headerFailure(Kind.DAMAGED, "is larger than a segment can be (" + size + " bytes)");
    }
    if (firstNonZero(0) < 0) {
      return new Scan(Kind.EMPTY, size, -1, 0, Math.min(size, SegmentFormat.HEADER_BYTES), 0, null);
    }
    if (size < SegmentFormat.HEADER_BYTES) {
      return headerFailure(Kind.DAMAGED, "is shorter than a header");
    }
    int at = load(0, SegmentFormat.HEADER_BYTES);
    int magic = view.getInt(at);
    int version = window[at + SegmentFormat.VERSION_OFFSET] & 0xff;
    int flags = window[at + SegmentFormat.FLAGS_OFFSET] & 0xff;
    int reserved = view.getShort(at + SegmentFormat.RESERVED_OFFSET) & 0xffff;
    final long baseFsn = view.getLong(at + SegmentFormat.BASE_FSN_OFFSET);
    if (magic != SegmentFormat.MAGIC) {
      return headerFailure(
          Kind.DAMAGED, String.format("has no segment header (magic 0x%08x)", magic));
    }
    if (version > SegmentFormat.VERSION) {
      return headerFailure(Kind.NEWER, "has version " + version);
    }
    if (version == 0) {
      return headerFailure(Kind.DAMAGED, "has version 0");
    }
    if (flags != 0) {
      return headerFailure(Kind.NEWER, String.format("has flags 0x%02x", flags));
    }
    if (reserved != 0) {
      return headerFailure(
          Kind.DAMAGED, String.format("has 0x%04x in a reserved header field", reserved));
    }
    if (baseFsn < 0 || baseFsn > MAX_BASE_FSN) {
      return headerFailure(Kind.DAMAGED, "has the impossible base FSN " + baseFsn);
    }
    return frames(baseFsn);
  }

  private Scan headerFailure(Kind kind, String problem) throws IOException {
    return new Scan(kind, size, -1, 0, 0, size, problem);
  }

  private Scan frames(long baseFsn) throws IOException {
    long at = SegmentFormat.HEADER_BYTES;
    long frames = 0;
    long length;
    while ((length = validFrame(at)) > 0) {
      at += SegmentFormat.FRAME_HEADER_BYTES + length;
      frames++;
    }
    if (firstNonZero(at) < 0) {
      return new Scan(frames == 0 ? Kind.EMPTY : Kind.FRAMES, size, baseFsn, frames, at, 0, null);
    }
    long behind = frameBehind(at);
    if (behind >= 0) {
      return new Scan(
          Kind.DAMAGED,
          size,
          baseFsn,
          frames,
          at,
          size - at,
          "has a bad frame at offset "
              + at
              + " (FSN "
              + (baseFsn + frames)
              + ") with a good one behind it, at offset "
              + behind);
    }
    return new Scan(Kind.FRAMES, size, baseFsn, frames, at, size - at, null);
  }

  /**
   * Offset of the first frame behind a bad one, −1 when there is none. Such a frame means that the
   * log was damaged in its middle; none means that the last write was cut off. Every payload is a
   * message and begins with its magic. Bytes that look like very many frames are a doubt as well.
   */
  private long frameBehind(long bad) throws IOException {
    final long limit = SEARCH_FACTOR * (size - bad);
    long checked = 0;
    for (long at = bad + 1; at + SegmentFormat.FRAME_HEADER_BYTES + 4 <= size; at++) {
      int header = load(at, SegmentFormat.FRAME_HEADER_BYTES + 4);
      if (window[header + SegmentFormat.FRAME_HEADER_BYTES] != 'Q'
          || view.getInt(header + SegmentFormat.FRAME_HEADER_BYTES)
              != SegmentFormat.MESSAGE_MAGIC) {
        continue;
      }
      long length = view.getInt(header + 4);
      checked += length < 1 || length > size - at ? 0 : length;
      if (validFrame(at) > 0 || checked > limit) {
        return at;
      }
    }
    return -1;
  }

  /** Length of the frame at an offset; 0 when there is no valid one. */
  private long validFrame(long at) throws IOException {
    long room = size - at - SegmentFormat.FRAME_HEADER_BYTES;
    if (room < 1) {
      return 0;
    }
    int header = load(at, SegmentFormat.FRAME_HEADER_BYTES);
    int expected = view.getInt(header);
    int length = view.getInt(header + 4);
    if (length < 1 || length > room) {
      return 0;
    }
    crc.reset();
    crc.update(window, header + 4, 4);
    long from = at + SegmentFormat.FRAME_HEADER_BYTES;
    for (long left = length; left > 0; ) {
      int n = (int) Math.min(left, WINDOW_BYTES);
      int begin = load(from, n);
      crc.update(window, begin, n);
      from += n;
      left -= n;
    }
    return (int) crc.getValue() == expected ? length : 0;
  }

  /** Has bytes in the window, and returns where. */
  private int load(long at, int bytes) throws IOException {
    if (at < windowStart || at + bytes > windowStart + windowLength) {
      windowStart = at;
      windowLength = (int) Math.min(WINDOW_BYTES, size - at);
      ByteBuffer dst = ByteBuffer.wrap(window, 0, windowLength);
      readFully(at, dst);
    }
    return (int) (at - windowStart);
  }

  private void readFully(long at, ByteBuffer dst) throws IOException {
    long position = at;
    while (dst.hasRemaining()) {
      int n = reader.read(dst, position);
      if (n < 0) {
        windowLength = 0;
        throw new EOFException("the file became shorter while it was read");
      }
      position += n;
    }
  }

  /** Offset of the first byte that is not zero, from an offset on; −1 when there is none. */
  private long firstNonZero(long from) throws IOException {
    for (long at = from; at < size; ) {
      int n = (int) Math.min(WINDOW_BYTES, size - at);
      int begin = load(at, n);
      for (int i = begin; i < begin + n; i++) {
        if (window[i] != 0) {
          return at + i - begin;
        }
      }
      at += n;
    }
    return -1;
  }
}
