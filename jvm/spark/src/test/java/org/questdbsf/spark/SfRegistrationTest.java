package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Handlers that are slow, throw, or never come back. */
class SfRegistrationTest {
  private static final int CAPACITY = 3;
  private static final long WAIT_SECONDS = 60;

  private final AtomicInteger delivered = new AtomicInteger();
  private final AtomicInteger dropped = new AtomicInteger();

  private final SfRegistration.Outcome outcome =
      (more, lost) -> {
        delivered.addAndGet(more);
        dropped.addAndGet(lost);
      };

  private static SfEvent event(int number) {
    return SfEvent.ofQuery(SfEvent.Kind.STARTED, "q", Integer.toString(number));
  }

  private static SfRegistration started(SfEventHandler handler) {
    SfRegistration registration = new SfRegistration(handler, false, "app", CAPACITY);
    registration.start();
    return registration;
  }

  @Test
  void theOldestGoWhileAHandlerIsBusy() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (SfRegistration registration =
        started(
            event -> {
              heard.add(event.message());
              busy.countDown();
              awaitQuietly(go);
            })) {
      registration.offer(event(0), outcome);
      assertTrue(busy.await(WAIT_SECONDS, TimeUnit.SECONDS));
      for (int i = 1; i <= 5; i++) {
        registration.offer(event(i), outcome);
      }
      assertEquals(CAPACITY, registration.waiting());
      assertEquals(2, registration.dropped());
      assertEquals(2, dropped.get());
      go.countDown();
      for (String wanted : List.of("0", "3", "4", "5")) {
        assertEquals(wanted, heard.poll(WAIT_SECONDS, TimeUnit.SECONDS));
      }
    }
  }

  @Test
  void whatIsThrownIsCountedAndTheNextEventComes() throws InterruptedException {
    CountDownLatch second = new CountDownLatch(2);
    try (SfRegistration registration =
        started(
            event -> {
              second.countDown();
              throw new IllegalStateException("at " + event.message());
            })) {
      assertNull(registration.lastFailure());
      registration.offer(event(1), outcome);
      registration.offer(event(2), outcome);
      assertTrue(second.await(WAIT_SECONDS, TimeUnit.SECONDS));
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
      while (registration.failed() < 2 && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertEquals(2, registration.failed());
      assertEquals(0, registration.delivered());
      assertEquals(0, delivered.get());
      assertTrue(registration.lastFailure().endsWith("at 2"));
    }
  }

  @Test
  void removalDoesNotWaitForACallAndNothingFollows() throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    SfRegistration registration =
        started(
            event -> {
              calls.incrementAndGet();
              busy.countDown();
              awaitQuietly(never);
            });
    registration.offer(event(1), outcome);
    registration.offer(event(2), outcome);
    assertTrue(busy.await(WAIT_SECONDS, TimeUnit.SECONDS));
    registration.remove();
    registration.offer(event(3), outcome);
    assertEquals(0, registration.waiting());
    never.countDown();
    assertEquals(1, calls.get());
  }

  @Test
  void errorsOnlyMeansErrorsOnly() {
    SfRegistration registration = new SfRegistration(event -> {}, true, "app", CAPACITY);
    assertFalse(registration.wants(event(1)));
    assertTrue(registration.isOf("app"));
    assertFalse(registration.isOf("other"));
    assertFalse(registration.isOf(null));
  }

  @Test
  void jsonHoldsEveryKindOfText() {
    String json = SfEvent.ofQuery(SfEvent.Kind.ENDED, "q\"", "line\nbreak ü").toJson();
    assertTrue(json.contains("\"query_id\":\"q\\\"\""), json);
    assertTrue(json.contains("\"message\":\"line\\nbreak ü\""), json);
    assertTrue(json.contains("\"executor\":null"), json);
    assertTrue(json.contains("\"kind\":\"ended\""), json);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
