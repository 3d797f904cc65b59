package org.questdbsf.slot;

import java.nio.ByteBuffer;
import java.util.Random;

/** Frames for tests; the slot does not look into them. */
final class Frames {
  private Frames() {}

  static byte[] random(Random random, int min, int max) {
    byte[] frame = new byte[min + random.nextInt(max - min + 1)];
    random.nextBytes(frame);
    byte[] magic = {'Q', 'W', 'P', '1'};
    System.arraycopy(magic, 0, frame, 0, Math.min(magic.length, frame.length));
    return frame;
  }

  /** Fills a buffer of 200 bytes or more with the n-th frame; returns its length. */
  static int numbered(byte[] buffer, long n) {
    int len = 8 + (int) (n * 31 % 190);
    ByteBuffer.wrap(buffer).putLong(n);
    for (int i = 8; i < len; i++) {
      buffer[i] = (byte) (n + i);
    }
    return len;
  }
}
