package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StallLogTest {
  private static final long START = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5);

  private final StallLog log = new StallLog(null);

  private String at(long seconds, long acked, long published) {
    return log.look(START + TimeUnit.SECONDS.toNanos(seconds), acked, published);
  }

  @Test
  void warnsAfterAWhileThenEachMinuteAndSaysWhenItIsOver() {
    assertNull(at(0, -1, 0));
    assertNull(at(9, -1, 3));
    assertEquals("no frame was acknowledged for 10 s, 4 wait", at(10, -1, 3));
    assertNull(at(69, -1, 3));
    assertEquals("no frame was acknowledged for 70 s, 4 wait", at(70, -1, 3));
    assertEquals("frames are acknowledged again after 75 s", at(75, 0, 3));
    assertNull(at(84, 0, 3));
    assertEquals("no frame was acknowledged for 10 s, 3 wait", at(85, 0, 3));
    assertEquals("frames are acknowledged again after 20 s", at(95, 3, 3));
  }

  @Test
  void anIdleSenderIsNoStalledOne() {
    assertNull(at(0, 4, 4));
    assertNull(at(3600, 4, 4));
    assertNull(at(7200, 4, 5));
    assertNull(at(7209, 4, 5));
    assertEquals("no frame was acknowledged for 10 s, 1 wait", at(7210, 4, 5));
  }

  @Test
  void oneThatGoesOnSlowlyIsNot() {
    for (int i = 0; i < 100; i++) {
      assertNull(at(9L * i, i, i + 50L));
    }
  }
}
