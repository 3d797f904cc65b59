package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.ScriptServer.Session;

/** Waiting, interrupts, ends, the error inbox, threads and descriptors. */
@Timeout(60)
class LifecycleTest {
  private static final String SMALL = "sf_max_segment_bytes=4k;sf_max_total_bytes=8k;";

  private static Recorder accepting() {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    return self[0];
  }

  private static Recorder silent() {
    return new Recorder((session, sequence, n, message) -> {});
  }

  /** Runs something on a thread, interrupts it when it waits, and returns what it threw. */
  private static Throwable interrupted(ThrowingRunnable action) throws InterruptedException {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                action.run();
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    thread.start();
    assertTrueEventually(
        () ->
            thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING,
        "waiting");
    thread.interrupt();
    thread.join(10_000);
    assertFalse(thread.isAlive(), "it ends at once");
    return thrown.get();
  }

  private interface ThrowingRunnable {
    void run() throws Exception;
  }

  private static void fill(Sender sender) throws InterruptedException {
    for (int n = 0; ; n++) {
      Senders.publish(sender, "t", n, n + 1);
    }
  }

  @Test
  void anInterruptEndsPublishAndNothingIsTorn() throws Exception {
    Recorder script = silent();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, SMALL + "close_flush_timeout_millis=0;")) {
      Throwable thrown = interrupted(() -> fill(sender));
      assertTrue(thrown instanceof InterruptedException, "" + thrown);
      long published = sender.publishedFsn();
      assertTrueEventually(() -> script.all().size() == published + 1, "all published is sent");
      server.run(() -> server.open.forEach(s -> s.ok(s.received() - 1)));
      sender.awaitAcked(published);
    }
  }

  @Test
  void anInterruptEndsAwaitAcked() throws Exception {
    try (ScriptServer server = new ScriptServer(silent());
        Sender sender = Senders.open(server, "close_flush_timeout_millis=0;")) {
      Senders.publish(sender, "t", 0, 1);
      Throwable thrown = interrupted(() -> sender.awaitAcked(0));
      assertTrue(thrown instanceof InterruptedException, "" + thrown);
    }
  }

  @Test
  void backPressureSaysWhatGoesOnAndLosesNothing() throws Exception {
    Recorder script = silent();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            Senders.open(server, SMALL + "sf_append_deadline_millis=1000;auto_flush=off;")) {
      Senders.writeRow(sender, "t", 0);
      sender.flush();
      assertTrueEventually(() -> script.all().size() == 1, "connected");
      int n = 1;
      SfException thrown = null;
      while (thrown == null) {
        Senders.writeRow(sender, "t", n++);
        try {
          sender.flush();
        } catch (SfException e) {
          thrown = e;
        }
      }
      assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, thrown.code());
      assertTrue(thrown.getMessage().contains("publishing to"), thrown.getMessage());
      assertTrue(sender.backpressureStalls() >= 1);
      long before = sender.publishedFsn();
      assertTrueEventually(() -> script.all().size() == before + 1, "sent what was published");
      server.run(() -> server.open.forEach(s -> s.ok(s.received() - 1)));
      sender.flush();
      assertEquals(before + 1, sender.publishedFsn(), "the row that waited, once");
      assertTrueEventually(() -> script.all().size() == before + 2, "sent");
      server.run(() -> server.open.forEach(s -> s.ok(s.received() - 1)));
      assertEquals(n, script.all().size());
    }
  }

  @Test
  void aTerminalErrorWakesAProducerThatWaitsForRoom() throws Exception {
    try (ScriptServer server = new ScriptServer(silent())) {
      Sender sender =
          Senders.builder(server.address(), SMALL + "sf_append_deadline_millis=60000;")
              .errorHandler(error -> {})
              .build();
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Thread producer =
          new Thread(
              () -> {
                try {
                  fill(sender);
                } catch (Throwable e) {
                  thrown.set(e);
                }
              });
      producer.start();
      assertTrueEventually(
          () -> sender.state().kind() == SenderState.Kind.BACKPRESSURE, "back-pressure");
      server.run(() -> server.open.forEach(s -> s.nack(0x05, 0, "end")));
      producer.join(10_000);
      assertTrue(thrown.get() instanceof SfException, "" + thrown.get());
      assertEquals(ErrorCode.SERVER_REJECTED, ((SfException) thrown.get()).code());
      sender.close();
    }
  }

  @Test
  void afterDiscardNothingIsSent() throws Exception {
    for (int i = 0; i < 20; i++) {
      Recorder script = silent();
      try (ScriptServer server = new ScriptServer(script)) {
        Sender sender = Senders.open(server, "");
        for (int n = 0; n < 200; n++) {
          Senders.publish(sender, "t", n, n + 1);
        }
        sender.discard();
        assertTrueEventually(() -> server.open.isEmpty(), "the connection is gone");
        int received = script.all().size();
        assertEquals(
            ErrorCode.SENDER_CLOSED,
            assertThrows(SfException.class, () -> Senders.publish(sender, "t", 0, 1)).code());
        assertEquals(
            ErrorCode.SENDER_CLOSED,
            assertThrows(SfException.class, () -> sender.awaitAcked(999)).code());
        assertEquals(received, script.all().size());
        sender.close();
      }
    }
  }

  @Test
  void discardEndsAnAttemptToConnect() throws Exception {
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Sender sender = Senders.builder("127.0.0.1:" + deaf.getLocalPort(), "").build();
      Senders.publish(sender, "t", 0, 1);
      try (Socket connected = deaf.accept()) {
        long began = System.nanoTime();
        sender.discard();
        assertTrue(System.nanoTime() - began < 5_000_000_000L, "it does not wait for time-outs");
        assertTrue(connected.isConnected());
      }
    }
  }

  @Test
  void closeIsBoundedWhenTheServerReadsNothing() throws Exception {
    Recorder stuck = silent();
    stuck.pong = false;
    try (ScriptServer server = new ScriptServer(stuck)) {
      Sender sender = Senders.open(server, "close_flush_timeout_millis=100;");
      Senders.publish(sender, "t", 0, 1);
      assertTrueEventually(() -> !server.open.isEmpty(), "connected");
      server.run(() -> server.open.forEach(Session::stopReading));
      long began = System.nanoTime();
      sender.close();
      assertTrue(System.nanoTime() - began < 5_000_000_000L, "bounded");
    }
  }

  @Test
  void anInterruptDuringCloseIsKeptAndTheThreadEnds() throws Exception {
    try (ScriptServer server = new ScriptServer(silent())) {
      Sender sender = Senders.builder(server.address(), "").name("interrupted-close").build();
      Senders.publish(sender, "t", 0, 1);
      boolean[] kept = new boolean[1];
      assertEquals(
          null,
          interrupted(
              () -> {
                sender.close();
                kept[0] = Thread.currentThread().isInterrupted();
              }));
      assertTrue(kept[0]);
      assertEquals(0, threads("questdb-sf-send-interrupted-close"));
    }
  }

  @Test
  void theInboxDropsTheOldestAndSurvivesItsHandler() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    List<SenderError> told = new CopyOnWriteArrayList<>();
    SenderCounters counters = new SenderCounters();
    CountDownLatch began = new CountDownLatch(1);
    ErrorInbox inbox =
        new ErrorInbox(
            "s",
            16,
            error -> {
              began.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              told.add(error);
              throw new IllegalStateException("a handler that throws");
            },
            error -> {},
            counters);
    inbox.offer(error(0));
    began.await();
    for (int i = 1; i <= 20; i++) {
      inbox.offer(error(i));
    }
    assertEquals(4, counters.errorNotificationsDropped());
    go.countDown();
    assertTrueEventually(() -> told.size() == 17, "delivered");
    assertEquals(0, told.get(0).fromFsn());
    assertEquals(5, told.get(1).fromFsn(), "1 to 4 were the oldest");
    assertEquals(20, told.get(16).fromFsn());
    assertTrueEventually(() -> counters.errorNotificationsDelivered() == 17, "counted");
    inbox.close();
  }

  private static SenderError error(long fsn) {
    return new SenderError(
        Category.WRITE_ERROR,
        Policy.DROP,
        9,
        fsn,
        fsn,
        fsn,
        "t",
        1,
        "no",
        "h:1",
        Instant.now(),
        null);
  }

  @Test
  void aHandlerMayCloseItsSender() throws Exception {
    Recorder script =
        new Recorder((session, sequence, n, message) -> session.nack(0x05, sequence, "no"));
    try (ScriptServer server = new ScriptServer(script)) {
      AtomicReference<Sender> sender = new AtomicReference<>();
      CountDownLatch closed = new CountDownLatch(1);
      sender.set(
          Senders.builder(server.address(), "")
              .errorHandler(
                  error -> {
                    try {
                      sender.get().close();
                    } catch (SfException e) {
                      assertEquals(ErrorCode.SERVER_REJECTED, e.code());
                    }
                    closed.countDown();
                  })
              .build());
      Senders.publish(sender.get(), "t", 0, 1);
      closed.await();
      assertEquals(0, threads("questdb-sf-send-" + sender.get().name()));
    }
  }

  @Test
  void reconnectsAndReplacedSendersLeaveNothingBehind() throws Exception {
    Recorder script = accepting();
    try (ScriptServer server = new ScriptServer(script)) {
      cycle(server, 5, 20); // what is made once is there now
      long threads = threads("");
      long descriptors = descriptors();
      cycle(server, 50, 4);
      assertTrueEventually(
          () -> threads("") <= threads, "threads " + threads("") + ", were " + threads);
      assertTrueEventually(
          () -> descriptors() <= descriptors + 2,
          "descriptors " + descriptors() + ", were " + descriptors);
    }
  }

  /** Replaces senders, each of which loses its connection some times. */
  private static void cycle(ScriptServer server, int senders, int reconnects) throws Exception {
    for (int i = 0; i < senders; i++) {
      try (Sender sender = Senders.open(server, "")) {
        for (int n = 0; n < reconnects; n++) {
          Senders.publish(sender, "t" + i, n, n + 1);
          sender.awaitAcked(n);
          server.run(() -> server.open.forEach(Session::reset));
        }
      }
    }
  }

  private static long threads(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(prefix))
        .count();
  }

  private static long descriptors() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  @Test
  void countersAndNamesAreThoseOfTheDocumentation() throws Exception {
    try (ScriptServer server = new ScriptServer(accepting());
        Sender sender = Senders.open(server, "")) {
      Senders.publish(sender, "t", 0, 3);
      sender.awaitAcked(0);
      assertEquals(3L, sender.counters().snapshot().get("rows_written"));
      assertEquals(1L, sender.counters().snapshot().get("frames_acked"));
      assertEquals(1L, sender.counters().snapshot().get("frames_sent"));
      assertEquals(0L, sender.counters().snapshot().get("frames_replayed"));
      assertTrue(sender.counters().snapshot().get("bytes_written") > 20);
    }
  }

  @Test
  void theSinkCanTellHowOldTheOldestFrameIs() throws Exception {
    try (ScriptServer server = new ScriptServer(silent());
        Sender sender = Senders.open(server, "close_flush_timeout_millis=0;")) {
      assertEquals(0, sender.oldestUnackedMillis());
      Senders.publish(sender, "t", 0, 1);
      assertTrueEventually(() -> sender.oldestUnackedMillis() >= 50, "it ages");
      assertTrue(sender.oldestUnackedMillis() < 20_000);
    }
  }

  @Test
  void aSenderRetiresWhenItHasTooManySymbols() throws Exception {
    try (ScriptServer server = new ScriptServer(accepting());
        Sender sender = Senders.open(server, "max_symbols_per_slot=50;")) {
      Senders.publish(sender, "t", 0, 49);
      assertFalse(sender.mustRetire());
      Senders.publish(sender, "t", 49, 50);
      assertTrue(sender.mustRetire());
    }
  }
}
