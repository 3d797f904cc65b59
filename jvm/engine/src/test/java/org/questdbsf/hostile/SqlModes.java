package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.taken;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Connections for frames that are well served, and SQL that is not. */
final class SqlModes {
  private SqlModes() {}

  static List<Mode> all() {
    return List.of(
        sql("never answers", SqlModes::hang),
        sql("resets", peer -> peer.peer().reset()),
        sql("ends before it answers", peer -> {}),
        sql("500", peer -> peer.http("500 Oops", "oops")),
        sql("503", peer -> peer.http("503 Busy", "{\"error\":\"busy\"}")),
        sql("302", peer -> peer.http("302 Found\r\nLocation: /exec", "")),
        sql("a page", peer -> peer.http("200 OK", "<html>hello</html>")),
        sql("half a JSON", peer -> peer.http("200 OK", "{\"columns\":[{\"name\":\"id\"")),
        sql("another JSON", peer -> peer.http("200 OK", "{\"columns\":7,\"dataset\":\"x\"}")),
        sql("rows of another length", peer -> peer.http("200 OK", rows("[1],[1,2,3]"))),
        sql("JSON of 100,000 levels", peer -> peer.http("200 OK", "[".repeat(100_000))),
        sql("less than it announced", SqlModes::cut),
        sql("a body without an end", SqlModes::endlessBody),
        sql("headers without an end", SqlModes::endlessHeaders),
        new Mode(
            "SQL: 403",
            Mode.End.TAKEN,
            null,
            Conversation::behave,
            peer -> peer.http("403 Forbidden", "no")),
        taken("SQL: 404", Conversation::behave));
  }

  private static Mode sql(String what, Mode.Script script) {
    return again("SQL: " + what, Conversation::behave).withSql(script);
  }

  /** An answer with two columns and these rows. */
  private static String rows(String dataset) {
    return "{\"columns\":[{\"name\":\"id\",\"type\":\"INT\"},"
        + "{\"name\":\"table_name\",\"type\":\"STRING\"}],\"dataset\":["
        + dataset
        + "]}";
  }

  private static void hang(Conversation peer) throws IOException {
    while (peer.peer().readByte() >= 0) {
      // whatever it says
    }
  }

  /** Knows no table at first, so that it is made by the frames; never answers afterwards. */
  static void hangOnceKnown(Conversation peer) throws IOException {
    if (peer.isFirstRequest()) {
      peer.http("200 OK\r\nConnection: close", rows(""));
    } else {
      hang(peer);
    }
  }

  private static void cut(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{\"columns\":[");
  }

  private static void endlessBody(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.flood(("1000\r\n" + " ".repeat(0x1000) + "\r\n").getBytes(StandardCharsets.US_ASCII));
  }

  private static void endlessHeaders(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 200 OK\r\n");
    peer.flood("X-Header: y\r\n".getBytes(StandardCharsets.US_ASCII));
  }
}
