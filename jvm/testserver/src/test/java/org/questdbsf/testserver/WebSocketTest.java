package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSocket frames, good and bad: what the real server was seen to answer. */
@Timeout(60)
class WebSocketTest {
  private static final String MASK = "00000000";

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static void assertEnd(RawClient client) {
    assertThrows(EOFException.class, client::read);
  }

  private static void assertClose(int code, String reason, RawClient client) throws IOException {
    RawClient.Frame close = client.read();
    assertEquals(RawClient.CLOSE, close.opcode());
    assertEquals(code, close.closeCode());
    assertEquals(reason, close.closeReason());
    assertEnd(client);
  }

  /** A message and behind it these bytes, which arrive together; the message is acknowledged. */
  private static RawClient openWith(byte[] behind) throws IOException {
    RawClient client = RawClient.open(server.port());
    byte[] message = RawClient.masked(0x82, Messages.row("frames", 1));
    byte[] all = Arrays.copyOf(message, message.length + behind.length);
    System.arraycopy(behind, 0, all, message.length, behind.length);
    client.raw(all);
    RawClient.Frame ok = client.read();
    assertEquals(0, ok.status());
    assertEquals(0, ok.sequence());
    return client;
  }

  static Stream<Map.Entry<String, String>> brokenFrames() {
    return Map.of(
        "not masked", "820178",
        "reserved bit", "c281" + MASK + "78",
        "reserved opcode", "8381" + MASK + "78",
        "reserved control opcode", "8b81" + MASK + "78",
        "PING too long", "89fe0080" + MASK + "78".repeat(128),
        "PING in pieces", "0981" + MASK + "78",
        "CLOSE of one byte", "8881" + MASK + "78",
        "negative length", "82ff8000000000000000" + MASK,
        "HTTP",
            HexFormat.of().formatHex("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)))
        .entrySet()
        .stream();
  }

  @ParameterizedTest
  @MethodSource("brokenFrames")
  void whatIsNoFrameEndsTheConnectionWithoutAWord(Map.Entry<String, String> broken)
      throws IOException {
    try (RawClient client = openWith(HexFormat.of().parseHex(broken.getValue()))) {
      assertEnd(client);
    }
  }

  @Test
  void framesThatAreNoMessagesAreRefusedInWords() throws IOException {
    String fragmented = "fragmented WebSocket frames are not supported";
    try (RawClient client = openWith(RawClient.masked(0x81, new byte[] {1}))) {
      assertClose(1003, "text frames are not supported, QWP requires binary frames", client);
    }
    for (int first : new int[] {0x02, 0x80, 0x00}) {
      try (RawClient client = openWith(RawClient.masked(first, new byte[] {1}))) {
        assertClose(1002, fragmented, client);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"82ff0000000000200000", "81ff0000000000200000", "82ff0000010000000000"})
  void aHeaderAboveTheCapIsRefusedBeforeThePayloadComes(String header) throws IOException {
    try (RawClient client = openWith(HexFormat.of().parseHex(header + MASK))) {
      assertClose(1009, "frame payload exceeds maximum size", client);
    }
  }

  @Test
  void theCloseArrivesThoughThePayloadIsStillBeingSent() throws IOException {
    byte[] large = RawClient.masked(0x82, new byte[Script.DEFAULT_MAX_BATCH_BYTES + 1]);
    try (RawClient client = openWith(large)) {
      assertClose(1009, "frame payload exceeds maximum size", client);
    }
  }

  @Test
  void lengthsNeedNotBeShort() throws IOException {
    try (RawClient client = openWith(HexFormat.of().parseHex("89fe0001" + MASK + "70"))) {
      RawClient.Frame pong = client.read();
      assertEquals(RawClient.PONG, pong.opcode());
      assertArrayEquals(new byte[] {0x70}, pong.payload());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1000, 1000", "1001, 1001", "3000, 3000", "4999, 4999", "1004, 1002", "2000, 1002",
    "1005, 1000", "1006, 1000", "1015, 1000", "0, 1000", "999, 1000", "5000, 1000"
  })
  void aCloseIsAnsweredBehindTheAcknowledgement(int code, int answer) throws IOException {
    byte[] payload = {(byte) (code >> 8), (byte) code};
    try (RawClient client = openWith(RawClient.masked(0x88, payload))) {
      assertClose(answer, "", client);
    }
  }

  @Test
  void anEmptyCloseIsAnsweredToo() throws IOException {
    try (RawClient client = openWith(RawClient.masked(0x88, new byte[0]))) {
      assertClose(1000, "", client);
    }
  }

  @Test
  void anIdleConnectionEndsWithoutAWord() throws IOException {
    server.script().idleTimeoutMillis(1500);
    try (RawClient idle = RawClient.open(server.port())) {
      assertEnd(idle);
    } finally {
      server.script().reset();
    }
  }
}
