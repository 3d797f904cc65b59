package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

@Timeout(30)
class MemoryRingTest {
  private static final int SEGMENT = 4096;
  private final SegmentKeeper keeper = new SegmentKeeper();

  @AfterEach
  void stop() {
    keeper.close();
  }

  private SegmentRing ring(SegmentBudget budget) {
    RingSettings s = new RingSettings(SEGMENT, Durability.MEMORY, 1000, 0);
    return SegmentRing.memory(s, budget.open(SEGMENT), keeper);
  }

  @Test
  void framesComeOutAsTheyWentInAcrossRotations() throws Exception {
    SegmentBudget budget = new SegmentBudget(4 * SEGMENT);
    try (SegmentRing ring = ring(budget)) {
      Random random = new Random(7);
      byte[] dst = new byte[SEGMENT];
      for (int i = 0; i < 2000; i++) {
        byte[] frame = Frames.random(random, 1, 1000);
        assertEquals(i, ring.append(frame, 0, frame.length, -1, () -> ""));
        assertEquals(frame.length, ring.frameLength(i));
        ring.copyFrame(i, dst, 0);
        assertArrayEquals(frame, java.util.Arrays.copyOf(dst, frame.length));
        assertEquals(-1, ring.frameLength(i + 1));
        ring.acknowledge(i);
      }
      assertTrue(budget.usedBytes() <= 4 * SEGMENT);
    }
    assertEquals(0, budget.usedBytes());
  }

  @Test
  void aFullRingTimesOutWithTheNumbersAndGoesOnAfterAnAcknowledgement() throws Exception {
    SegmentBudget budget = new SegmentBudget(2 * SEGMENT);
    try (SegmentRing ring = ring(budget)) {
      byte[] frame = new byte[2000];
      for (int i = 0; i < 4; i++) {
        ring.append(frame, 0, frame.length, -1, () -> "");
      }
      SfException e =
          assertThrows(
              SfException.class, () -> ring.append(frame, 0, frame.length, 50, () -> "DETAIL"));
      assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, e.code());
      assertTrue(e.getMessage().contains("8192") && e.getMessage().contains("DETAIL"), e::toString);
      assertEquals(1, ring.backpressureStalls());
      ring.acknowledge(1);
      assertEquals(4, ring.append(frame, 0, frame.length, 20_000, () -> ""));
    }
  }

  @Test
  void anInterruptedProducerHarmsNothing() throws Exception {
    SegmentBudget budget = new SegmentBudget(2 * SEGMENT);
    try (SegmentRing ring = ring(budget)) {
      byte[] frame = new byte[2000];
      for (int i = 0; i < 4; i++) {
        ring.append(frame, 0, frame.length, -1, () -> "");
      }
      AtomicReference<Throwable> seen = new AtomicReference<>();
      Thread t =
          new Thread(
              () -> {
                try {
                  ring.append(frame, 0, frame.length, -1, () -> "");
                } catch (Throwable e) {
                  seen.set(e);
                }
              });
      t.start();
      while (t.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      t.interrupt();
      t.join();
      assertEquals(InterruptedException.class, seen.get().getClass());
      assertEquals(3, ring.publishedFsn());
      ring.acknowledge(3);
      assertEquals(4, ring.append(frame, 0, frame.length, -1, () -> ""));
    }
  }

  @Test
  void twoThreadsSeeEveryFrameInOrder() throws Exception {
    SegmentBudget budget = new SegmentBudget(3 * SEGMENT);
    try (SegmentRing ring = ring(budget)) {
      int n = 200_000;
      AtomicReference<Throwable> failed = new AtomicReference<>();
      Thread producer =
          new Thread(
              () -> {
                try {
                  byte[] frame = new byte[200];
                  for (int i = 0; i < n; i++) {
                    int len = Frames.numbered(frame, i);
                    ring.append(frame, 0, len, -1, () -> "");
                  }
                } catch (Throwable e) {
                  failed.set(e);
                }
              });
      producer.start();
      byte[] dst = new byte[200];
      byte[] want = new byte[200];
      for (int i = 0; i < n; i++) {
        int len;
        while ((len = ring.frameLength(i)) < 0) {
          Thread.onSpinWait();
          if (failed.get() != null) {
            throw new AssertionError(failed.get());
          }
        }
        ring.copyFrame(i, dst, 0);
        assertEquals(Frames.numbered(want, i), len);
        assertEquals(-1, java.util.Arrays.mismatch(want, 0, len, dst, 0, len), "frame " + i);
        if (i % 7 == 0) {
          ring.acknowledge(i);
        }
      }
      producer.join();
    }
  }
}
