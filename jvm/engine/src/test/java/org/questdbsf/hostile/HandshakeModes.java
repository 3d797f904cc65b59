package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.taken;
import static org.questdbsf.hostile.Mode.terminal;

import java.io.IOException;
import java.util.List;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.RawServer;

/** From the request to the upgrade. */
final class HandshakeModes {
  private HandshakeModes() {}

  static List<Mode> all() {
    return List.of(
        again("ends before it answers", peer -> {}),
        again("resets before it answers", peer -> peer.peer().reset()),
        again("never answers", HandshakeModes::waitForEnd),
        again("answers with zeros", peer -> write(peer, "\0\0\0\0\0\0\0\0\r\n\r\n")),
        again("answers as SSH", peer -> write(peer, "SSH-2.0-OpenSSH_9.2p1\r\n")),
        again("answers as TLS", peer -> write(peer, "\u0015\u0003\u0001\u0000\u0002\u0002\u0028")),
        again("answers as HTTP/2", peer -> write(peer, "\0\0\u0006\u0004\0\0\0\0\0\0\0\0\0\0\0")),
        again("answers with half a status line", peer -> write(peer, "HTTP/1.1 10")),
        again("answers with half a header", peer -> write(peer, "HTTP/1.1 101 S\r\nUpgrade: web")),
        again("200", peer -> peer.http("200 OK", "hello")),
        again("204", peer -> peer.peer().write("HTTP/1.1 204 No Content\r\n\r\n")),
        again("301 to itself", peer -> peer.http("301 Moved\r\nLocation: /write/v4", "")),
        again("307 elsewhere", peer -> peer.http("307 T\r\nLocation: ws://127.0.0.1:1/", "")),
        again("400", peer -> peer.http("400 Bad Request", "what?")),
        terminal("401", ErrorCode.AUTH_FAILED, peer -> peer.http("401 Unauthorized", "no")),
        terminal("403", ErrorCode.AUTH_FAILED, peer -> peer.http("403 Forbidden", "no")),
        terminal(
            "403 without an end",
            ErrorCode.AUTH_FAILED,
            peer -> write(peer, "HTTP/1.1 403 Forbidden\r\nContent-Length: 9999\r\n\r\nno")),
        again("404", peer -> peer.http("404 Not Found", "")),
        again("421 without a role", peer -> peer.http("421 Misdirected", "")),
        again("421 of a replica", peer -> peer.http("421 M\r\nX-QuestDB-Role: REPLICA", "")),
        again(
            "421 of a primary to be",
            peer -> peer.http("421 M\r\nX-QuestDB-Role: PRIMARY_CATCHUP", "")),
        again("426", peer -> peer.http("426 Upgrade Required", "")),
        again("429 for an hour", peer -> peer.http("429 Too Many\r\nRetry-After: 3600", "")),
        again("500 without an end", HandshakeModes::endlessBody),
        again("502 of a proxy", peer -> peer.http("502 Bad Gateway", "<html>nginx</html>")),
        again("503", peer -> peer.http("503 Service Unavailable", "")),
        again("999", peer -> peer.http("999 Nonsense", "")),
        again("a status that is no number", peer -> peer.http("abc OK", "")),
        again("101 without an accept key", peer -> peer.http("101 Switching Protocols", "")),
        again(
            "101 with a wrong accept key",
            peer ->
                write(
                    peer,
                    RawServer.switching(peer.request())
                        .replaceFirst("Accept: ....", "Accept: AAAA"))),
        again(
            "101 to another protocol",
            peer ->
                write(
                    peer,
                    RawServer.switching(peer.request())
                        .replace("Upgrade: websocket", "Upgrade: h2c"))),
        again("a newer version", peer -> upgradeAndListen(peer, "X-QWP-Version: 2")),
        again("a version that is no number", peer -> upgradeAndListen(peer, "X-QWP-Version: x")),
        taken("a cap that is no number", peer -> upgradeAndBehave(peer, "X-QWP-Max-Batch-Size: x")),
        taken("a cap below 0", peer -> upgradeAndBehave(peer, "X-QWP-Max-Batch-Size: -5")),
        taken(
            "a cap beyond 64 bits",
            peer -> upgradeAndBehave(peer, "X-QWP-Max-Batch-Size: 99999999999999999999")),
        taken("an unknown role", peer -> upgradeAndBehave(peer, "X-QuestDB-Role: \u00e4\u00f6")),
        taken("103 before 101", HandshakeModes::earlyHints),
        taken("101 byte by byte", HandshakeModes::byteByByte),
        again("100 without an end", peer -> peer.flood(latin1("HTTP/1.1 100 Continue\r\n\r\n"))),
        again("headers without an end", HandshakeModes::endlessHeaders),
        again("a header of 1 MB", HandshakeModes::largeHeader),
        again("rubbish without an end", peer -> peer.flood(new byte[8192])),
        again(
            "an extension that was not asked for",
            peer -> {
              peer.upgrade("Sec-WebSocket-Extensions: permessage-deflate");
              if (peer.next()) {
                byte[] compressed = RawServer.frame(true, 2, RawServer.ok(0));
                compressed[0] |= 0x40;
                peer.peer().write(compressed);
                peer.listen();
              }
            }));
  }

  private static byte[] latin1(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private static void waitForEnd(Conversation peer) throws IOException {
    while (peer.peer().readByte() >= 0) {
      // whatever it says
    }
  }

  private static void write(Conversation peer, String answer) throws IOException {
    peer.peer().write(answer);
    waitForEnd(peer);
  }

  private static void upgradeAndListen(Conversation peer, String header) throws IOException {
    peer.upgrade(header);
    peer.listen();
  }

  private static void upgradeAndBehave(Conversation peer, String header) throws IOException {
    peer.upgrade(header);
    while (peer.next()) {
      peer.ok();
    }
  }

  private static void earlyHints(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    peer.behave();
  }

  private static void byteByByte(Conversation peer) throws IOException {
    for (char c : RawServer.switching(peer.request()).toCharArray()) {
      peer.peer().write(String.valueOf(c));
    }
    while (peer.next()) {
      peer.ok();
    }
  }

  private static void endlessBody(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.flood(latin1("1000\r\n" + "x".repeat(0x1000) + "\r\n"));
  }

  private static void endlessHeaders(Conversation peer) throws IOException {
    peer.peer().write("HTTP/1.1 101 Switching Protocols\r\n");
    peer.flood(latin1("X-Header: " + "y".repeat(500) + "\r\n"));
  }

  private static void largeHeader(Conversation peer) throws IOException {
    String header = "X-Large: " + "z".repeat(1 << 20);
    upgradeAndListen(peer, header);
  }
}
