package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.ConnectFailure.Kind;

/** What each answer to the upgrade means. */
class UpgradeTest extends UpgradeFixture {
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
}
