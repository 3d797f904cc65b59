package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server or proxy that repeats what we logged in with does not get it into our texts. */
@Timeout(60)
class ForeignTextTest {
  private static final String PASSWORD = "pä$$ w+rd/9";
  private static final String TOKEN = "tok-3n.abc_DEF+/=";
  private static final List<String> HEADERS =
      List.of(Credentials.basic("admin", PASSWORD), Credentials.bearer(TOKEN));

  /** All that must not be seen, for either header. */
  private static List<String> forms() {
    List<String> clear =
        List.of(
            PASSWORD,
            TOKEN,
            "admin:" + PASSWORD,
            HEADERS.get(0).substring("Basic ".length()),
            HEADERS.get(1).substring("Bearer ".length()));
    return clear.stream()
        .flatMap(text -> Stream.of(text, base64(text), URLEncoder.encode(text, UTF_8)))
        .toList();
  }

  private static final java.nio.charset.Charset UTF_8 = StandardCharsets.UTF_8;

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  @Test
  void secretsAreCutInEachForm() {
    for (String header : HEADERS) {
      ForeignText foreign = ForeignText.of(header);
      String clear = header.startsWith("Basic") ? PASSWORD : TOKEN;
      String value = header.substring(header.indexOf(' ') + 1);
      for (String form : List.of(clear, value, base64(clear), URLEncoder.encode(clear, UTF_8))) {
        String clean = foreign.clean("before " + form + " behind");
        assertEquals("before *** behind", clean.replace("***==", "***").replace("***=", "***"));
      }
    }
  }

  @Test
  void controlCharactersBecomeSpaces() {
    ForeignText foreign = ForeignText.of(null);
    assertEquals("a b c d e", foreign.clean("a\r\nb\u001b\u0000c\u202ed\u2028e"));
    assertEquals("naïve 表", foreign.clean("naïve 表"));
    assertNull(foreign.clean(null));
  }

  @Test
  void aSecretBrokenByControlCharactersIsCut() {
    ForeignText foreign = ForeignText.of(Credentials.bearer("one two"));
    assertEquals("x *** y", foreign.clean("x one\r\ntwo y"));
  }

  /** Every way in which a server can put it into one of our texts. */
  @Test
  void noTextHasWhatAServerRepeats() throws Exception {
    for (String header : HEADERS) {
      String value = header.substring(header.indexOf(' ') + 1);
      String clear = header.startsWith("Basic") ? PASSWORD : TOKEN;
      String page = "you sent: " + header + ", that is " + clear;
      for (String answer :
          List.of(
              "HTTP/1.1 502 Bad " + header + "\r\nContent-Length: 0\r\n\r\n",
              "HTTP/1.1 502 Bad\r\nContent-Length: " + utf8(page).length + "\r\n\r\n" + page,
              "HTTP/1.1 421 M\r\nX-QuestDB-Role: " + value + "\r\nContent-Length: 0\r\n\r\n",
              header + " is no HTTP\r\n\r\n",
              "HTTP/" + value + " 200 OK\r\n\r\n",
              "HTTP/1.1 101 S\r\nUpgrade: " + value + "\r\nSec-WebSocket-Accept: x\r\n\r\n")) {
        assertClean(answer, header);
      }
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static void assertClean(String answer, String header) throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.readRequest();
              peer.write(utf8(answer));
            })) {
      Endpoint e = server.endpoint();
      ConnectSettings settings = QwpConnectionTest.settings(e, () -> header);
      RecordedEvents events = new RecordedEvents();
      assertClean(
          assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, settings, events)));
      assertClean(
          assertThrows(SqlFailure.class, () -> new SqlOverHttp(settings).query(e, "SELECT 1")));
    }
  }

  private static void assertClean(Throwable thrown) {
    StringWriter all = new StringWriter();
    thrown.printStackTrace(new PrintWriter(all));
    for (String form : forms()) {
      assertFalse(all.toString().contains(form), form + " in " + all);
    }
  }

  /** A short password may be a part of words; and what a text begins with decides what is done. */
  @Test
  void shortSecretsLeaveOtherWordsAlone() {
    ForeignText foreign = ForeignText.of("Bearer quest");
    assertEquals("questdb request ***, ***!", foreign.clean("questdb request quest, quest!"));
    assertEquals("Bearer ***", foreign.clean("Bearer quest"));
  }

  @Test
  void refusalsAndCloseReasonsAreClean() throws Exception {
    String header = HEADERS.get(1);
    RecordedEvents events = new RecordedEvents();
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              peer.readFrame();
              peer.reply(RawServer.nack(9, 0, "no\u001b[2J, " + header));
              peer.close(1011, "bye\r\n" + TOKEN);
              peer.readFrame();
            })) {
      Endpoint e = server.endpoint();
      QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e, () -> header), events);
      QwpConnectionTest.send(c, new byte[] {1});
      assertEquals(
          new ServerReply.Nack(9, 0, "no\u001b[2J, " + header, "no [2J, Bearer ***"),
          events.reply());
      CloseInfo end = events.closed();
      assertEquals("bye ***", end.reason());
      assertTrue(end.code() == 1011, end.toString());
    }
  }
}
