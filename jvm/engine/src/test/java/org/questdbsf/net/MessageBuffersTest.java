package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MessageBuffersTest {
  private static final int MEGABYTE = 1 << 20;

  /** Leaves none behind from other tests: nine that nobody gives back take all that are kept. */
  @BeforeEach
  void takeAllKept() {
    for (int i = 0; i < 9; i++) {
      MessageBuffers.of(64 << 20);
    }
  }

  @Test
  void framesOfNearlyEqualSizeUseTheSameArrays() {
    Set<byte[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 100; i++) {
      ByteBuf first = MessageBuffers.of(MEGABYTE - i * 100);
      ByteBuf second = MessageBuffers.of(MEGABYTE - i * 200);
      assertNotSame(first.array(), second.array());
      arrays.add(first.array());
      arrays.add(second.array());
      first.release();
      second.release();
    }
    assertEquals(2, arrays.size());
  }

  @Test
  void aBufferIsEmptyAndHasTheRoomAskedFor() {
    for (int bytes : new int[] {0, 1, 65_536, 65_537, 3 * MEGABYTE}) {
      ByteBuf buffer = MessageBuffers.of(bytes);
      assertTrue(buffer.hasArray());
      assertEquals(0, buffer.readableBytes());
      assertEquals(0, buffer.arrayOffset());
      assertTrue(buffer.array().length >= bytes);
      buffer.writerIndex(bytes);
      buffer.release();
    }
  }

  @Test
  void whatIsTooSmallIsNotUsedAndWhatIsLargeIsNotKept() {
    ByteBuf small = MessageBuffers.of(10);
    small.release();
    ByteBuf large = MessageBuffers.of(3 * MEGABYTE);
    byte[] array = large.array();
    assertTrue(array.length >= 3 * MEGABYTE);
    large.release();
    ByteBuf next = MessageBuffers.of(10);
    assertNotSame(array, next.array());
    byte[] kept = next.array();
    next.release();
    assertSame(kept, MessageBuffers.of(20).array());
  }
}
