package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyDecoderTest {
  private static final String OK = "00050000000000000001000100740900000000000000";
  private static final String DURABLE = "0201000100740900000000000000";
  private static final String NACK = "0306000000000000000300626164";

  private static ServerReply decode(byte[] bytes) throws MalformedReplyException {
    return ReplyDecoder.decode(Unpooled.wrappedBuffer(bytes));
  }

  private static ServerReply decode(String hex) throws MalformedReplyException {
    return decode(HexFormat.of().parseHex(hex));
  }

  @Test
  void readsTheExamplesOfTheSpecification() throws Exception {
    assertEquals(new ServerReply.Ok(5, List.of(new TableTxn("t", 9))), decode(OK));
    assertEquals(new ServerReply.DurableAck(List.of(new TableTxn("t", 9))), decode(DURABLE));
    assertEquals(new ServerReply.Nack(3, 6, "bad", "bad"), decode(NACK));
    assertEquals(new ServerReply.Ok(0, List.of()), decode("0000000000000000000000"));
  }

  @Test
  void anyOtherStatusIsARefusal() throws Exception {
    for (int status = 0; status < 256; status++) {
      byte[] bytes = RawServer.nack(status, 1, "no");
      if (status != 0 && status != 2 && status != 0x0e) {
        assertEquals(new ServerReply.Nack(status, 1, "no", "no"), decode(bytes));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {OK, DURABLE, NACK, "020200010061010000000000000002006262ffffffffffffffff"})
  void refusesEachTruncationAndOneByteMore(String hex) throws Exception {
    byte[] whole = HexFormat.of().parseHex(hex);
    decode(whole);
    for (int length = 0; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      MalformedReplyException e =
          assertThrows(MalformedReplyException.class, () -> decode(part), "length " + length);
      assertTrue(e.getMessage().contains("ends at byte " + length), e.getMessage());
    }
    byte[] more = Arrays.copyOf(whole, whole.length + 1);
    assertThrows(MalformedReplyException.class, () -> decode(more));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00ffffffffffffffff0000", // sequence -1
        "0300000000000000800000", // sequence -2^63
        "020100000009000000000000000000", // empty table name
        "0201000100ff0900000000000000", // name not UTF-8
        "0201000300eda0800900000000000000", // name with a lone surrogate
        "02ffff", // more tables than bytes
        "0e0000", // local durable acknowledgement
      })
  void refusesOtherMalformedReplies(String hex) {
    assertThrows(MalformedReplyException.class, () -> decode(hex));
  }

  @Test
  void takesATextThatTheServerCutInACharacter() throws Exception {
    byte[] cut = Arrays.copyOf("né".getBytes(StandardCharsets.UTF_8), 2);
    byte[] bytes = RawServer.nack(6, 0, "xx");
    System.arraycopy(cut, 0, bytes, bytes.length - 2, 2);
    assertEquals(new ServerReply.Nack(6, 0, "n\ufffd", "n\ufffd"), decode(bytes));
  }

  @Test
  void neverFailsInAnyOtherWay() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[][] good = {
      HexFormat.of().parseHex(OK), HexFormat.of().parseHex(DURABLE), HexFormat.of().parseHex(NACK)
    };
    int understood = 0;
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = good[random.nextInt(good.length)].clone();
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        decode(bytes);
        understood++;
      } catch (MalformedReplyException e) {
        assertTrue(e.getMessage().length() < 200);
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + HexFormat.of().formatHex(bytes), e);
      }
    }
    assertTrue(understood > 0 && understood < 200_000);
  }
}
