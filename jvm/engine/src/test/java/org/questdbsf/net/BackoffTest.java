package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class BackoffTest {

  /** Draws the least, or the greatest, of what is allowed. */
  private static RandomGenerator extreme(boolean greatest) {
    return new RandomGenerator() {
      @Override
      public long nextLong() {
        throw new AssertionError("only bounded draws");
      }

      @Override
      public long nextLong(long bound) {
        assertTrue(bound > 0);
        return greatest ? bound - 1 : 0;
      }
    };
  }

  @Test
  void doublesFromInitialToMaximum() {
    Backoff least = new Backoff(100, 5000, extreme(false));
    Backoff most = new Backoff(100, 5000, extreme(true));
    for (long base : new long[] {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000}) {
      assertEquals(base, least.nextSleepMillis());
      assertEquals(2 * base - 1, most.nextSleepMillis());
    }
    least.reset();
    assertEquals(100, least.nextSleepMillis());
  }

  @Test
  void roundsOfRoleRejectsKeepTheInitialPace() {
    Backoff b = new Backoff(100, 5000, extreme(false));
    b.nextSleepMillis();
    b.nextSleepMillis();
    assertEquals(100, b.roleRejectSleepMillis());
    assertEquals(100, b.roleRejectSleepMillis());
    assertEquals(100, b.nextSleepMillis());
    assertEquals(200, b.nextSleepMillis());
  }

  @Test
  void zeroIsZeroAndDrawsNothing() {
    Backoff b = new Backoff(0, 0, extreme(true));
    assertEquals(0, b.nextSleepMillis());
    assertEquals(0, b.roleRejectSleepMillis());
    assertEquals(0, new Backoff(0, 5000, extreme(true)).nextSleepMillis());
  }

  @Test
  void refusesBoundsThatMakeNoSense() {
    Random r = new Random(1);
    assertThrows(IllegalArgumentException.class, () -> new Backoff(-1, 1, r));
    assertThrows(IllegalArgumentException.class, () -> new Backoff(2, 1, r));
    assertThrows(IllegalArgumentException.class, () -> new Backoff(2, Long.MAX_VALUE, r));
  }

  @Test
  void agreesWithTheFormula() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int run = 0; run < 5000; run++) {
      long initial = random.nextInt(1000);
      long max = initial + random.nextInt(1_000_000);
      Backoff b = new Backoff(initial, max, random);
      int attempt = 0;
      for (int step = 0; step < 100; step++) {
        if (random.nextInt(20) == 0) {
          b.reset();
          attempt = 0;
        }
        long base = Math.min(max, attempt > 40 ? max : initial << attempt);
        if (initial == 0) {
          base = 0;
        }
        attempt++;
        long sleep = b.nextSleepMillis();
        boolean fits = base == 0 ? sleep == 0 : sleep >= base && sleep < 2 * base;
        assertTrue(fits, "seed " + seed + ": " + sleep + " for base " + base);
      }
    }
  }
}
