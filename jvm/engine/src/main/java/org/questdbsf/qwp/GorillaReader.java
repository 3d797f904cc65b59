package org.questdbsf.qwp;

/**
 * Timestamps by their delta of delta, bits lowest first (client spec, section on Gorilla): two
 * plain values, then 0 for "as before", or 10, 110, 1110, 1111 in reading order and 7, 9, 12, 32
 * bits.
 */
final class GorillaReader {
  private static final int[] WIDTHS = {7, 9, 12, 32};

  private final Cursor in;
  private int bits;
  private int bitsLeft;

  GorillaReader(Cursor in) {
    this.in = in;
  }

  long[] read(int count) throws MalformedMessageException {
    long plain = 8L * Math.min(count, 2);
    // A value takes one bit at least: more values than bits are refused before room is made.
    long least = plain + (Math.max(0, count - 2) + 7L >> 3);
    if (least > in.left()) {
      throw in.fault(
          in.at(),
          count + " Gorilla timestamps need " + least + " bytes, " + in.left() + " are left");
    }
    long[] values = new long[count];
    int at = in.take(plain, "timestamps");
    for (int i = 0; i < Math.min(count, 2); i++) {
      values[i] = LittleEndian.getLong(in.bytes(), at + 8 * i);
    }
    for (int i = 2; i < count; i++) {
      long delta = values[i - 1] - values[i - 2] + readDeltaOfDelta();
      values[i] = values[i - 1] + delta;
    }
    return values;
  }

  private int readDeltaOfDelta() throws MalformedMessageException {
    if (readBits(1) == 0) {
      return 0;
    }
    int kind = 0;
    while (kind < 3 && readBits(1) == 1) {
      kind++;
    }
    int width = WIDTHS[kind];
    return (int) readBits(width) << 32 - width >> 32 - width;
  }

  private long readBits(int count) throws MalformedMessageException {
    long value = 0;
    for (int have = 0; have < count; ) {
      if (bitsLeft == 0) {
        bits = in.readByte("timestamps");
        bitsLeft = 8;
      }
      int take = Math.min(bitsLeft, count - have);
      value |= (bits & (1L << take) - 1) << have;
      bits >>>= take;
      bitsLeft -= take;
      have += take;
    }
    return value;
  }
}
