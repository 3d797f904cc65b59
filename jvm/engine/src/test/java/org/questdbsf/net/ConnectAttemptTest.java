package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.ConnectFailure.Kind;

/** What each way of getting no answer to the upgrade means, and what ends the wait for one. */
class ConnectAttemptTest extends UpgradeFixture {
  @Test
  void namesAFinBeforeTheAnswer() throws Exception {
    ConnectFailure failure = failureOf(peer -> peer.readRequest(), false);
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertTrue(failure.getMessage().contains("closed the connection"), failure.getMessage());
  }

  @Test
  void namesARstBeforeTheAnswer() throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.reset();
            },
            false);
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertNotNull(failure.getCause());
  }

  @Test
  void boundsTheWaitForASilentServer() throws Exception {
    CountDownLatch reset = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.readRequest();
              if (!peer.endedByFin()) {
                reset.countDown();
              }
            })) {
      Endpoint e = server.endpoint();
      long start = System.nanoTime();
      ConnectFailure failure =
          assertThrows(
              ConnectFailure.class,
              () -> QwpConnection.open(e, settings(e, Credentials.NONE, 200, false), events));
      assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(190));
      assertEquals(Kind.TRANSPORT, failure.kind());
      assertTrue(failure.getMessage().contains("no answer within 200 ms"), failure.getMessage());
      assertTrue(reset.await(10, TimeUnit.SECONDS), "the connection is reset");
    }
  }

  @Test
  void namesARefusedConnection() throws Exception {
    int port;
    try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      port = s.getLocalPort();
    }
    Endpoint e = new Endpoint("127.0.0.1", port);
    ConnectFailure failure =
        assertThrows(
            ConnectFailure.class,
            () -> QwpConnection.open(e, settings(e, Credentials.NONE, 3000, false), events));
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertTrue(failure.getMessage().contains("Connection refused"), failure.getMessage());
  }

  @Test
  void namesAnUnknownHost() {
    Endpoint e = new Endpoint("no-such-host.invalid", 9000);
    ConnectFailure failure =
        assertThrows(
            ConnectFailure.class,
            () -> QwpConnection.open(e, settings(e, Credentials.NONE, 3000, false), events));
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertTrue(failure.getMessage().contains("no-such-host.invalid"), failure.getMessage());
  }

  @Test
  void triesEveryAddressOfAName() throws Exception {
    // localhost may have ::1 as well, on which nothing listens
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              peer.readFrame();
            })) {
      Endpoint e = new Endpoint("localhost", server.endpoint().port());
      QwpConnection.open(e, settings(e, Credentials.NONE, 3000, false), events).close(0);
    }
  }

  @Test
  void anInterruptEndsTheWaitAndTheConnection() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.readRequest();
              asked.countDown();
              peer.endedByFin();
              gone.countDown();
            })) {
      Endpoint e = server.endpoint();
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Thread opener =
          new Thread(
              () -> {
                try {
                  QwpConnection.open(e, settings(e, Credentials.NONE, 60_000, false), events);
                } catch (Throwable t) {
                  thrown.set(t);
                }
              });
      opener.start();
      assertTrue(asked.await(10, TimeUnit.SECONDS));
      opener.interrupt();
      opener.join(10_000);
      assertEquals(InterruptedException.class, thrown.get().getClass());
      assertTrue(gone.await(10, TimeUnit.SECONDS));
      assertEquals(List.of(), events.order);
    }
  }

  /** Whatever an interrupt meets: either a connection and its end, or no event at all. */
  @Test
  void anInterruptMakesNoEventsWithoutAConnection() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<RecordedEvents> without = new ArrayList<>();
    int with = 0;
    try (RawServer server =
        new RawServer(
            peer -> {
              try {
                peer.upgrade();
                peer.close(1001, "");
                peer.endedByFin();
              } catch (IOException e) {
                return; // interrupted and gone
              }
            })) {
      Endpoint e = server.endpoint();
      ConnectSettings s = settings(e, Credentials.NONE, 60_000, false);
      for (int i = 0; i < 300; i++) {
        RecordedEvents mine = new RecordedEvents();
        Thread opener = Thread.currentThread();
        long pause = random.nextInt(i % 2 == 0 ? 300_000 : 1_500_000);
        Thread interrupter =
            new Thread(
                () -> {
                  long until = System.nanoTime() + pause;
                  while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                  }
                  opener.interrupt();
                });
        interrupter.start();
        try {
          QwpConnection.open(e, s, mine);
          with++;
          joinAndClear(interrupter);
          mine.closed();
          assertEquals(1, mine.count("closed"));
        } catch (InterruptedException interrupted) {
          joinAndClear(interrupter);
          without.add(mine);
        }
      }
    }
    for (RecordedEvents mine : without) {
      assertEquals(List.of(), mine.order, "seed " + seed + ", connections " + with);
    }
  }

  private static void joinAndClear(Thread interrupter) {
    boolean joined = false;
    while (!joined) {
      try {
        interrupter.join();
        joined = true;
      } catch (InterruptedException e) {
        continue; // the very interrupt that is waited for
      }
    }
    Thread.interrupted();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void boundsTheConnectToAHostThatDropsPackets() throws Exception {
    // a full backlog drops SYNs
    List<SocketChannel> fillers = new ArrayList<>();
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      for (int i = 0; i < 8; i++) {
        SocketChannel filler = SocketChannel.open();
        filler.configureBlocking(false);
        filler.connect(deaf.getLocalSocketAddress());
        fillers.add(filler);
      }
      Endpoint e = new Endpoint("127.0.0.1", deaf.getLocalPort());
      ConnectSettings s =
          new ConnectSettings(
              List.of(e), false, TlsSettings.SYSTEM, Credentials.NONE, 200, 60_000, false, "t/1");
      ConnectFailure failure =
          assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, s, events));
      assertEquals(Kind.TRANSPORT, failure.kind());
      assertTrue(failure.getMessage().contains("timed out"), failure.getMessage());
    } finally {
      for (SocketChannel filler : fillers) {
        filler.close();
      }
    }
  }

  @Test
  void asksForCredentialsAtEachConnect() throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    AtomicInteger rotation = new AtomicInteger();
    try (RawServer server =
        new RawServer(
            peer -> {
              seen.add(peer.upgrade().header("Authorization"));
              peer.readFrame();
            })) {
      Endpoint e = server.endpoint();
      Credentials credentials = () -> Credentials.bearer("token" + rotation.incrementAndGet());
      for (int i = 1; i <= 2; i++) {
        QwpConnection.open(e, settings(e, credentials, 3000, false), events).close(0);
        assertEquals("Bearer token" + i, seen.poll(10, TimeUnit.SECONDS));
      }
    }
    assertEquals("Basic dXPDqXI6cDphw59z", Credentials.basic("usér", "p:aßs"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer geheim\n", "Bearer geheim\r\nX: y", "Bearer gehe\u00efm"})
  void neverShowsACredentialThatCannotBeSent(String header) {
    Endpoint e = new Endpoint("127.0.0.1", 1);
    ConnectFailure failure =
        assertThrows(
            ConnectFailure.class,
            () -> QwpConnection.open(e, settings(e, () -> header, 3000, false), events));
    assertFalse(failure.toString().contains("gehe"), failure.toString());
    assertNull(failure.getCause());
  }

  @Test
  void settingsShowNoCredentials() {
    Endpoint e = new Endpoint("127.0.0.1", 1);
    record Literal(String authorization) implements Credentials {}
    String text = settings(e, new Literal("geheim"), 3000, false).toString();
    assertFalse(text.contains("geheim"), text);
  }
}
