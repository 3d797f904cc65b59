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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.ConnectFailure.Kind;
import org.questdbsf.net.RawServer.Script;

/** What each answer, and each lack of one, to the upgrade means. */
class UpgradeTest {
  private final RecordedEvents events = new RecordedEvents();

  private static ConnectSettings settings(
      Endpoint e, Credentials credentials, int authMillis, boolean durable) {
    return new ConnectSettings(
        List.of(e), false, TlsSettings.SYSTEM, credentials, 5000, authMillis, durable, "t/1");
  }

  private ConnectFailure failureOf(Script script, boolean durable) throws Exception {
    try (RawServer server = new RawServer(script)) {
      Endpoint e = server.endpoint();
      ConnectFailure failure =
          assertThrows(
              ConnectFailure.class,
              () -> QwpConnection.open(e, settings(e, Credentials.NONE, 3000, durable), events));
      assertEquals(e, failure.endpoint());
      assertTrue(failure.getMessage().contains(e.toString()), failure.getMessage());
      assertEquals(List.of(), events.order, "no event of a connection that never was");
      return failure;
    }
  }

  private static Script answering(String text) {
    return peer -> {
      peer.readRequest();
      peer.write(text);
      peer.endedByFin(); // stays until the client goes
    };
  }

  @ParameterizedTest
  @CsvSource({
    "401 Unauthorized, , AUTH",
    "403 Forbidden, , AUTH",
    "421 Misdirected Request, , TRANSPORT",
    "421 Misdirected Request, REPLICA, ROLE_TOPOLOGY",
    "421 Misdirected Request, SOMETHING_NEW, ROLE_TOPOLOGY",
    "421 Misdirected Request, PRIMARY_CATCHUP, ROLE_TRANSIENT",
    "400 Bad Request, , TRANSPORT",
    "404 Not Found, , TRANSPORT",
    "426 Upgrade Required, , TRANSPORT",
    "503 Service Unavailable, REPLICA, TRANSPORT",
    "200 OK, , TRANSPORT",
    "302 Found, , TRANSPORT",
  })
  void classifiesRefusals(String status, String role, Kind kind) throws Exception {
    String header = role == null ? "" : "X-QuestDB-Role: " + role + "\r\n";
    ConnectFailure failure =
        failureOf(
            answering(
                "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: 9\r\n\r\nthe\nwords"),
            false);
    assertEquals(kind, failure.kind());
    assertEquals(Integer.parseInt(status.substring(0, 3)), failure.httpStatus());
    assertTrue(failure.getMessage().contains("the words"), failure.getMessage());
    assertTrue(failure.getMessage().contains(status), failure.getMessage());
  }

  @Test
  void readsARefusalThatEndsWithTheConnection() throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.write("HTTP/1.1 401 Unauthorized\r\n\r\nno such user");
            },
            false);
    assertEquals(Kind.AUTH, failure.kind());
    assertTrue(failure.getMessage().contains("no such user"), failure.getMessage());
  }

  @Test
  void judgesARefusalByItsHeadWhenTheBodyIsCutOff() throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 1000\r\n\r\nbegin");
            },
            false);
    assertEquals(Kind.AUTH, failure.kind());
    assertEquals(403, failure.httpStatus());
  }

  @Test
  void takesNoMoreThanTheBeginningOfAHugeRefusal() throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.write(
                  "HTTP/1.1 500 Oops\r\nContent-Length: 1000000000\r\n\r\n" + "x".repeat(9000));
              peer.endedByFin();
            },
            false);
    assertEquals(500, failure.httpStatus());
    assertTrue(failure.getMessage().length() < 500, failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "0", "-1", "one", ""})
  void refusesOtherVersions(String version) throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              peer.upgrade("X-QWP-Version: " + version);
              peer.readFrame();
            },
            false);
    assertEquals(Kind.VERSION, failure.kind());
    assertEquals(101, failure.httpStatus());
  }

  @Test
  void needsDurableAcksToBeGranted() throws Exception {
    ConnectFailure failure =
        failureOf(
            peer -> {
              assertEquals("true", peer.upgrade().header("X-QWP-Request-Durable-Ack"));
              peer.readFrame();
            },
            true);
    assertEquals(Kind.DURABLE_NOT_GRANTED, failure.kind());
  }

  @Test
  void readsWhatA101Grants() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade("x-qwp-durable-ack: Enabled", "X-QWP-Max-Batch-Size: 99999999999");
              peer.readFrame();
            })) {
      Endpoint e = server.endpoint();
      try (QwpConnection c =
          QwpConnection.open(e, settings(e, Credentials.NONE, 3000, true), events)) {
        assertTrue(c.durableAck());
        assertEquals(Integer.MAX_VALUE, c.maxBatchBytes());
        c.close(0);
      }
    }
  }

  @Test
  void livesWithA101WithoutHeaders() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade("X-QWP-Max-Batch-Size: much");
              peer.readFrame();
            })) {
      Endpoint e = server.endpoint();
      QwpConnection c = QwpConnection.open(e, settings(e, Credentials.NONE, 3000, false), events);
      assertFalse(c.durableAck());
      assertEquals(0, c.maxBatchBytes());
      assertEquals("", c.role());
      c.close(0);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      })
  void checksTheAcceptHeader(String answer) throws Exception {
    long start = System.nanoTime();
    ConnectFailure failure = failureOf(answering(answer), false);
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertTrue(failure.getMessage().contains("not a WebSocket upgrade"), failure.getMessage());
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3), "needs no time-out");
  }

  @Test
  void skipsInterimResponses() throws Exception {
    ConnectFailure failure =
        failureOf(
            answering(
                "HTTP/1.1 103 Early Hints\r\n\r\n"
                    + "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            false);
    assertEquals(404, failure.httpStatus());
  }

  @ParameterizedTest
  @ValueSource(strings = {"SSH-2.0-OpenSSH_9.2\r\n", "220 mail ready\r\n\r\n"})
  void namesAnswersThatAreNotHttp(String answer) throws Exception {
    ConnectFailure failure = failureOf(answering(answer), false);
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertEquals(0, failure.httpStatus());
    assertTrue(failure.getMessage().contains("not HTTP"), failure.getMessage());
  }

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
