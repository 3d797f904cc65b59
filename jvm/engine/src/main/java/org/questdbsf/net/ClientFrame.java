package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A message made a masked binary WebSocket frame (RFC 6455, section 5.2) where it lies: the header
 * goes into room kept before it, and the payload is masked in place, eight bytes at a time. Netty's
 * encoder passes such bytes on; for its own frames it asks for each long of a buffer by a call that
 * checks bounds and references, which cost more than all else that is done to a message here.
 */
final class ClientFrame {
  /** The longest header: two bytes, a length of eight, a mask of four. */
  static final int HEADROOM = 14;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int FINAL_BINARY = 0x82;
  private static final int MASKED = 0x80;
  private static final int LENGTH_OF_TWO = 126;
  private static final int LENGTH_OF_EIGHT = 127;

  private ClientFrame() {}

  /**
   * Seals a message.
   *
   * @param message has an array; the payload is what can be read, with {@link #HEADROOM} bytes or
   *     more before it; afterwards the frame is what can be read
   * @param mask the masking key; a new one for each frame
   */
  static void seal(ByteBuf message, int mask) {
    int length = message.readableBytes();
    int payload = message.readerIndex();
    int bytesOfLength = length < LENGTH_OF_TWO ? 0 : length <= 0xFFFF ? 2 : 8;
    int begin = payload - 6 - bytesOfLength;
    message.setByte(begin, FINAL_BINARY);
    switch (bytesOfLength) {
      case 0 -> message.setByte(begin + 1, MASKED | length);
      case 2 -> {
        message.setByte(begin + 1, MASKED | LENGTH_OF_TWO);
        message.setShort(begin + 2, length);
      }
      default -> {
        message.setByte(begin + 1, MASKED | LENGTH_OF_EIGHT);
        message.setLong(begin + 2, length);
      }
    }
    message.setInt(payload - 4, mask);
    mask(message.array(), message.arrayOffset() + payload, length, mask);
    message.readerIndex(begin);
  }

  private static void mask(byte[] bytes, int off, int length, int mask) {
    long wide = (long) mask << 32 | mask & 0xFFFF_FFFFL;
    int end = off + length;
    int at = off;
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      LONG.set(bytes, at, (long) LONG.get(bytes, at) ^ wide);
    }
    for (int shift = 56; at < end; at++, shift -= 8) {
      bytes[at] ^= (byte) (wide >>> shift);
    }
  }
}
