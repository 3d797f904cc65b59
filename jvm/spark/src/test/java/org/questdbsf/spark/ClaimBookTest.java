package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Each increment of a counter is told once, whoever asks. */
class ClaimBookTest {
  private static final int FRAMES = SfMetric.FRAMES_WRITTEN.ordinal();

  private final ClaimBook book = new ClaimBook();

  private static long[] totals(long frames) {
    long[] totals = new long[SfMetric.values().length];
    totals[FRAMES] = frames;
    return totals;
  }

  @Test
  void aClaimIsWhatWasAddedSinceTheLastOne() {
    assertEquals(5, book.claim(totals(5))[FRAMES]);
    assertEquals(0, book.claim(totals(5))[FRAMES]);
    assertEquals(2, book.claim(totals(7))[FRAMES]);
  }

  /** Totals are read without a lock, so that a claimant may come with older ones. */
  @Test
  void olderTotalsClaimNothingAndTakeNothingBack() {
    assertEquals(7, book.claim(totals(7))[FRAMES]);
    assertEquals(0, book.claim(totals(4))[FRAMES]);
    assertEquals(1, book.claim(totals(8))[FRAMES]);
  }

  @Test
  void whatATaskGivesBackIsTheNextOnes() {
    long[] claimed = book.claim(totals(5));
    book.giveBack(claimed);
    assertEquals(6, book.claim(totals(6))[FRAMES]);
  }

  @Test
  void claimsOfManyThreadsAddUpToTheTotal() throws Exception {
    int each = 10_000;
    int threads = 4;
    AtomicLong total = new AtomicLong();
    Callable<Long> task =
        () -> {
          long mine = 0;
          for (int i = 0; i < each; i++) {
            mine += book.claim(totals(total.incrementAndGet()))[FRAMES];
          }
          return mine;
        };
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<Long>> claims =
          IntStream.range(0, threads).mapToObj(i -> pool.submit(task)).toList();
      long sum = 0;
      for (Future<Long> claim : claims) {
        sum += claim.get();
      }
      assertEquals((long) each * threads, sum);
    } finally {
      pool.shutdown();
    }
  }
}
