package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Heap buffers for messages, used again and again by all connections of this JVM. Netty's own pool
 * gives a chunk back as soon as nothing is in it, and a chunk holds only a few messages of a
 * megabyte: at full speed it would make twice as much garbage as is sent. Any thread.
 */
final class MessageBuffers {
  /** Sizes are rounded up to this, so that frames of nearly equal size can use the same arrays. */
  private static final int STEP = 64 * 1024;

  /** Larger messages are rare: they do not stay. */
  private static final int LARGEST_KEPT = 2 * 1024 * 1024;

  private static final int MOST_KEPT = 8;

  private static final BlockingQueue<byte[]> KEPT = new ArrayBlockingQueue<>(MOST_KEPT);

  private MessageBuffers() {}

  /** A buffer with an array and room for so many bytes. */
  static ByteBuf of(int bytes) {
    return new Reused(Math.max(1, bytes));
  }

  private static final class Reused extends UnpooledHeapByteBuf {
    Reused(int bytes) {
      super(UnpooledByteBufAllocator.DEFAULT, bytes, Integer.MAX_VALUE);
    }

    @Override
    protected byte[] allocateArray(int bytes) {
      byte[] array = KEPT.poll();
      if (array != null && array.length >= bytes) {
        return array;
      }
      // One that is too small goes: what is sent now is larger.
      return new byte[(int) Math.min(Integer.MAX_VALUE - 8L, (bytes + STEP - 1L) / STEP * STEP)];
    }

    @Override
    protected void freeArray(byte[] array) {
      if (array.length <= LARGEST_KEPT) {
        KEPT.offer(array);
      }
    }
  }
}
