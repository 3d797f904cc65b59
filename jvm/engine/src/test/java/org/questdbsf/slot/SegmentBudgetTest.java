package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

class SegmentBudgetTest {
  @Test
  void eachShareIsGuaranteedTwoSegments() {
    SegmentBudget budget = new SegmentBudget(60);
    SegmentBudget.Share a = budget.open(10);
    assertTrue(a.tryTake(10) && a.tryTake(10) && a.tryTake(10) && a.tryTake(10));
    SegmentBudget.Share b = budget.open(10);
    assertFalse(a.tryTake(10), "the rest is b's guarantee");
    assertTrue(b.tryTake(10) && b.tryTake(10));
    assertEquals(60, budget.usedBytes());
    SfException full = assertThrows(SfException.class, () -> budget.open(10));
    assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, full.code());
    assertTrue(full.getMessage().contains("2 x sf_max_segment_bytes (10) = 20"), full::getMessage);
    SfException never = assertThrows(SfException.class, () -> budget.open(31));
    assertEquals(ErrorCode.CONFIG_INVALID_VALUE, never.code());
    b.close();
    b.close();
    assertEquals(40, budget.usedBytes());
    assertTrue(a.tryTake(10));
  }

  @Test
  @Timeout(30)
  void roomForOneMoreRingCanBeAwaited() throws Exception {
    SegmentBudget budget = new SegmentBudget(60);
    SegmentBudget.Share a = budget.open(10);
    SegmentBudget.Share b = budget.open(10);
    budget.awaitRoom(10, 60_000); // there is room
    assertTrue(a.tryTake(10) && a.tryTake(10) && a.tryTake(10));
    budget.awaitRoom(10, 1); // there is none, and it is not waited for for long
    assertThrows(SfException.class, () -> budget.open(10));
    Thread giver = new Thread(() -> a.give(10));
    giver.start();
    budget.awaitRoom(10, 60_000);
    SegmentBudget.Share c = budget.open(10);
    giver.join();
    Thread closer = new Thread(b::close);
    closer.start();
    budget.awaitRoom(10, 60_000);
    budget.open(10).close();
    closer.join();
    c.close();
    assertEquals(20, budget.usedBytes());
  }

  @Test
  void roomGoesToTheOneThatAskedFirst() {
    SegmentBudget budget = new SegmentBudget(60);
    List<String> woken = new ArrayList<>();
    SegmentBudget.Share a = budget.open(10);
    SegmentBudget.Share b = budget.open(10);
    SegmentBudget.Share c = budget.open(10);
    b.claim(() -> woken.add("b"));
    c.claim(() -> woken.add("c"));
    for (SegmentBudget.Share s : List.of(a, b, c)) {
      assertTrue(s.tryTake(10) && s.tryTake(10));
    }
    assertFalse(b.tryTake(10));
    assertFalse(c.tryTake(10));
    a.close();
    assertEquals(List.of("b"), woken);
    assertFalse(c.tryTake(10), "b is first");
    assertTrue(b.tryTake(10));
    assertEquals(List.of("b", "c"), woken, "and then c, as there is room left");
    assertTrue(c.tryTake(10));
    assertFalse(b.tryTake(10));
    assertFalse(c.tryTake(10));
    b.stopWaiting();
    assertEquals("c", woken.get(woken.size() - 1));
  }

  @Test
  void aShareThatWasClosedIsNotUsedAgain() {
    SegmentBudget budget = new SegmentBudget(60);
    SegmentBudget.Share a = budget.open(10);
    a.close();
    assertThrows(IllegalStateException.class, () -> a.claim(() -> {}));
    assertThrows(IllegalStateException.class, () -> a.adopt(5));
    assertFalse(a.tryTake(10));
  }

  @Test
  void theSumNeverPassesTheTotalAndEndsAtZero() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    SegmentBudget budget = new SegmentBudget(1000);
    List<SegmentBudget.Share> shares = new ArrayList<>();
    List<Long> sizes = new ArrayList<>();
    List<Integer> held = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      sizes.add(10L + random.nextInt(40));
      shares.add(budget.open(sizes.get(i)));
      held.add(0);
    }
    for (int step = 0; step < 20_000; step++) {
      int i = random.nextInt(8);
      if (random.nextBoolean()) {
        boolean taken = shares.get(i).tryTake(sizes.get(i));
        assertTrue(taken || held.get(i) >= 2, "guaranteed; seed " + seed);
        held.set(i, held.get(i) + (taken ? 1 : 0));
      } else if (held.get(i) > 0) {
        shares.get(i).give(sizes.get(i));
        held.set(i, held.get(i) - 1);
      }
      assertTrue(budget.usedBytes() <= 1000, "seed " + seed);
    }
    shares.forEach(SegmentBudget.Share::close);
    assertEquals(0, budget.usedBytes());
  }
}
