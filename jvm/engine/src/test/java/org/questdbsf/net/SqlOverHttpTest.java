package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.questdbsf.net.RawServer.Request;
import org.questdbsf.net.RawServer.Script;

class SqlOverHttpTest {
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();

  private static ConnectSettings settings(Endpoint e, Credentials credentials, int authMillis) {
    return new ConnectSettings(
        List.of(e), false, TlsSettings.SYSTEM, credentials, 5000, authMillis, false, "t/1");
  }

  private Script answering(String text) {
    return peer -> {
      requests.add(peer.readRequest());
      peer.write(text.getBytes(StandardCharsets.UTF_8));
    };
  }

  private static String json(String status, String body) {
    int length = body.getBytes(StandardCharsets.UTF_8).length;
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + length + "\r\n\r\n" + body;
  }

  private SqlResult query(Script script, String sql) throws Exception {
    try (RawServer server = new RawServer(script)) {
      Endpoint e = server.endpoint();
      return new SqlOverHttp(settings(e, () -> "Basic eA==", 5000)).query(e, sql);
    }
  }

  private SqlFailure failureOf(Script script) throws Exception {
    try (RawServer server = new RawServer(script)) {
      Endpoint e = server.endpoint();
      SqlOverHttp http = new SqlOverHttp(settings(e, Credentials.NONE, 1000));
      SqlFailure failure = assertThrows(SqlFailure.class, () -> http.query(e, "select 1"));
      assertTrue(failure.getMessage().contains(e.toString()), failure.getMessage());
      return failure;
    }
  }

  @Test
  void readsColumnsAndRows() throws Exception {
    SqlResult result =
        query(
            answering(
                json(
                    "200 OK",
                    "{\"query\":\"q\",\"columns\":[{\"name\":\"é\",\"type\":\"LONG\"},{\"name\":"
                        + "\"d\",\"type\":\"DOUBLE[]\",\"dim\":1,\"elemType\":\"DOUBLE\"}],"
                        + "\"timestamp\":-1,\"dataset\":[[1,[1.5,null]],[null,true]],\"count\":2}")),
            "select 1");
    assertEquals(List.of("é", "d"), result.columns());
    assertEquals(List.of("LONG", "DOUBLE[]"), result.types());
    assertEquals(
        List.of(Arrays.asList(1L, Arrays.asList(1.5, null)), Arrays.asList(null, true)),
        result.rows());
    assertEquals(1L, result.value(0, "é"));
    assertNull(result.value(1, "é"));
    assertThrows(IllegalArgumentException.class, () -> result.column("nope"));
  }

  @Test
  void asksWithEncodedTextAndCredentials() throws Exception {
    String sql = "select 'a+b & c=d%é\ud83d\ude00' from \"t\"\n;";
    SqlResult result = query(answering(json("200 OK", "{\"ddl\":\"OK\"}")), sql);
    assertEquals(new SqlResult(List.of(), List.of(), List.of()), result);
    Request request = requests.take();
    String prefix = "GET /exec?query=";
    assertTrue(request.line().startsWith(prefix), request.line());
    String encoded = request.line().substring(prefix.length(), request.line().indexOf(" HTTP/1.1"));
    assertEquals(sql, URLDecoder.decode(encoded, StandardCharsets.UTF_8));
    assertEquals("Basic eA==", request.header("Authorization"));
    assertEquals("close", request.header("Connection"));
    assertNull(request.header("Accept-Encoding"));
  }

  @Test
  void readsChunks() throws Exception {
    SqlResult result =
        query(
            answering(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "a\r\n{\"columns\"\r\n39\r\n:[{\"name\":\"x\",\"type\":\"INT\"}],\"dataset\":"
                    + "[[1],[2],[3],[4]]}\r\n0\r\n\r\n"),
            "select 1");
    assertEquals(4, result.rows().size());
  }

  @Test
  void keepsTheServersWordsAndThePlace() throws Exception {
    SqlFailure failure =
        failureOf(
            answering(
                json(
                    "400 Bad Request",
                    "{\"query\":\"x\",\"error\":\"table does not exist [table=t]\","
                        + "\"position\":14}")));
    assertEquals(400, failure.httpStatus());
    assertEquals("table does not exist [table=t]", failure.serverMessage());
    assertEquals(14, failure.position());
    assertTrue(failure.getMessage().contains("table does not exist [table=t]"));
  }

  @Test
  void keepsThePageOfAProxy() throws Exception {
    SqlFailure failure = failureOf(answering(json("502 Bad Gateway", "<h1>no\nupstream</h1>")));
    assertEquals(502, failure.httpStatus());
    assertEquals("<h1>no upstream</h1>", failure.serverMessage());
    assertEquals(-1, failure.position());
  }

  @Test
  void refusesARedirectAndAnEmpty401() throws Exception {
    SqlFailure redirect =
        failureOf(answering("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"));
    assertEquals(302, redirect.httpStatus());
    SqlFailure auth = failureOf(answering(json("401 Unauthorized", "")));
    assertEquals(401, auth.httpStatus());
    assertNull(auth.serverMessage());
  }

  @Test
  void refusesAnswersThatAreCutOffOrNotWhatTheyShouldBe() throws Exception {
    String[] answers = {
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ddl\":\"OK\"}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{\"ddl\":\"OK\"}\r\n",
      json("200 OK", ""),
      json("200 OK", "[]"),
      json("200 OK", "{\"columns\":[{\"name\":\"x\"}],\"dataset\":[]}"),
      json("200 OK", "{\"columns\":[{\"name\":\"x\",\"type\":\"INT\"}],\"dataset\":[[1,2]]}"),
      json("200 OK", "{\"columns\":[{\"name\":\"x\",\"type\":\"INT\"}]}"),
      "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"ddl\":\"O\u00ff\"}",
    };
    for (int i = 0; i < answers.length; i++) {
      String answer = answers[i];
      SqlFailure failure =
          failureOf(
              peer -> {
                peer.readRequest();
                peer.write(answer); // as latin-1: the last is not UTF-8
              });
      assertEquals(200, failure.httpStatus(), answer);
      assertTrue(failure.getMessage().contains("cannot be read"), failure.getMessage());
    }
  }

  @Test
  void boundsTheSizeOfAnAnswer() throws Exception {
    SqlFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.write("HTTP/1.1 200 OK\r\n\r\n");
              byte[] spaces = new byte[1 << 20];
              try {
                for (int i = 0; i < 64; i++) {
                  peer.write(spaces);
                }
              } catch (java.net.SocketException e) {
                return; // the client has gone, as it should
              }
              peer.endedByFin();
            });
    assertTrue(failure.getMessage().contains("larger than"), failure.getMessage());
  }

  @Test
  void boundsTheWait() throws Exception {
    SqlFailure failure =
        failureOf(
            peer -> {
              peer.readRequest();
              peer.endedByFin();
            });
    assertEquals(0, failure.httpStatus());
    assertTrue(failure.getMessage().contains("no answer within 1000 ms"), failure.getMessage());
  }

  @Test
  void tellsOfAServerThatIsNotThere() {
    Endpoint e = new Endpoint("127.0.0.1", 1);
    SqlOverHttp http = new SqlOverHttp(settings(e, Credentials.NONE, 1000));
    SqlFailure failure = assertThrows(SqlFailure.class, () -> http.query(e, "select 1"));
    assertEquals(0, failure.httpStatus());
    assertTrue(failure.getMessage().contains("Connection refused"), failure.getMessage());
    assertFalse(failure.getMessage().isEmpty());
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.readRequest();
              asked.countDown();
              peer.endedByFin();
            })) {
      Endpoint e = server.endpoint();
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Thread asker =
          new Thread(
              () -> {
                try {
                  new SqlOverHttp(settings(e, Credentials.NONE, 60_000)).query(e, "select 1");
                } catch (Throwable t) {
                  thrown.set(t);
                }
              });
      asker.start();
      assertTrue(asked.await(10, TimeUnit.SECONDS));
      asker.interrupt();
      asker.join(10_000);
      assertEquals(InterruptedException.class, thrown.get().getClass());
    }
  }
}
