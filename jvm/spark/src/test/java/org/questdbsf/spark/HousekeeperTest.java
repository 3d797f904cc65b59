package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the connector does beside the tasks of an executor. */
@Timeout(60)
class HousekeeperTest {
  private static final int SLOW = 8;

  @Test
  void lanesThatTakeLongToOpenOrToCloseDelayNothingElse() throws Exception {
    CountDownLatch waiting = new CountDownLatch(2 * SLOW);
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(SLOW);
    List<CompletableFuture<Integer>> opening = new ArrayList<>();
    for (int i = 0; i < SLOW; i++) {
      int lane = i;
      opening.add(
          Housekeeper.call(
              () -> {
                waiting.countDown();
                goOn.await();
                return lane;
              }));
      Housekeeper.apart(
          () -> {
            waiting.countDown();
            awaitQuietly(goOn);
            closed.countDown();
          });
    }
    waiting.await();
    assertEquals("opened", Housekeeper.call(() -> "opened").get());
    CountDownLatch others = new CountDownLatch(2);
    Housekeeper.apart(others::countDown);
    Housekeeper.soon(others::countDown);
    others.await();
    goOn.countDown();
    for (int i = 0; i < SLOW; i++) {
      assertEquals(i, opening.get(i).get());
    }
    closed.await();
  }

  /** Whoever asks has taken the lane out of its pool: nobody would close it later. */
  @Test
  void aThreadThatIsNotToBeHadIsAskedForAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch closed = new CountDownLatch(2);
    Executor few =
        task -> {
          switch (asked.getAndIncrement()) {
            case 0 -> throw new OutOfMemoryError("unable to create native thread");
            case 1 -> throw new RejectedExecutionException("no more");
            default -> Housekeeper.apart(task);
          }
        };
    Housekeeper.apart(few, closed::countDown);
    Housekeeper.apart(few, closed::countDown);
    closed.await();
    assertEquals(4, asked.get());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
