package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.net.RawServer.Request;
import org.questdbsf.net.RawServer.Script;

/** Queries on a connection that is kept. */
@Timeout(60)
class SqlSessionTest {
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final AtomicInteger connections = new AtomicInteger();

  private static SqlSession session(Endpoint e, int millis) {
    ConnectSettings settings =
        new ConnectSettings(
            List.of(e), false, TlsSettings.SYSTEM, () -> "Basic eA==", 5000, millis, false, "t/1");
    return new SqlOverHttp(settings).session(e);
  }

  private static String answer(String header, int value) {
    String body = "{\"columns\":[{\"name\":\"x\",\"type\":\"INT\"}],\"dataset\":[[" + value + "]]}";
    return "HTTP/1.1 200 OK\r\n" + header + "Content-Length: " + body.length() + "\r\n\r\n" + body;
  }

  /** Answers some requests on each connection, in the same words, and closes it. */
  private Script answering(int eachConnection, String header) {
    return peer -> {
      int connection = connections.incrementAndGet();
      for (int i = 0; i < eachConnection; i++) {
        requests.add(peer.readRequest());
        peer.write(answer(header, connection));
      }
    };
  }

  private static long ask(SqlSession session) throws Exception {
    return (long) session.query("select 1", 0).value(0, "x");
  }

  @Test
  void oneConnectionTakesAllQueries() throws Exception {
    try (RawServer server = new RawServer(answering(5, ""))) {
      SqlSession session = session(server.endpoint(), 5000);
      for (int i = 0; i < 5; i++) {
        assertEquals(1, ask(session));
        Request request = requests.take();
        assertEquals("keep-alive", request.header("Connection"));
        assertEquals("Basic eA==", request.header("Authorization"));
      }
    }
  }

  @Test
  void aServerThatClosesIsAskedThroughAnotherConnection() throws Exception {
    try (RawServer server = new RawServer(answering(2, ""))) {
      SqlSession session = session(server.endpoint(), 5000);
      for (int i = 0; i < 6; i++) {
        assertEquals(1 + i / 2, ask(session));
      }
    }
    connections.set(0);
    try (RawServer server = new RawServer(answering(1, "Connection: close\r\n"))) {
      SqlSession session = session(server.endpoint(), 5000);
      assertEquals(1, ask(session));
      assertEquals(2, ask(session));
    }
  }

  @Test
  void whatNobodyAskedForIsNotTakenForAnAnswer() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    Script script =
        peer -> {
          int connection = connections.incrementAndGet();
          peer.readRequest();
          peer.write(answer("", connection) + (connection == 1 ? answer("", 77) : ""));
          if (connection == 1) {
            peer.readByte();
            gone.countDown();
          }
        };
    try (RawServer server = new RawServer(script)) {
      SqlSession session = session(server.endpoint(), 5000);
      assertEquals(1, ask(session));
      gone.await();
      assertEquals(2, ask(session));
      assertEquals(2, connections.get());
    }
  }

  @Test
  void silenceIsNotAskedTwice() throws Exception {
    Script script =
        peer -> {
          connections.incrementAndGet();
          peer.readRequest();
          peer.write(answer("", 1));
          peer.readRequest();
          peer.readByte();
        };
    try (RawServer server = new RawServer(script)) {
      SqlSession session = session(server.endpoint(), 300);
      assertEquals(1, ask(session));
      SqlFailure failure = assertThrows(SqlFailure.class, () -> ask(session));
      assertTrue(failure.getMessage().contains("within 300 ms"), failure.getMessage());
      assertEquals(1, connections.get());
    }
  }
}
