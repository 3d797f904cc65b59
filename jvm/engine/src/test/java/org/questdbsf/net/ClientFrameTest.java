package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClientFrameTest {
  private static byte[] bytes(int length, Random random) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static ByteBuf sealed(byte[] message, int mask) {
    ByteBuf buffer = MessageBuffers.of(ClientFrame.HEADROOM + message.length);
    buffer.setIndex(ClientFrame.HEADROOM, ClientFrame.HEADROOM).writeBytes(message);
    ClientFrame.seal(buffer, mask);
    return buffer;
  }

  /** A decoder that is not ours reads each length of header, and each rest behind whole longs. */
  @Test
  void aServerReadsWhatWasSealed() {
    Random random = new Random(5);
    for (int length = 0;
        length < 70_000;
        length += length < 200 || length > 65_300 && length < 65_600 ? 1 : 97) {
      byte[] message = bytes(length, random);
      EmbeddedChannel server =
          new EmbeddedChannel(new WebSocket13FrameDecoder(true, false, 1 << 20));
      server.writeInbound(sealed(message, random.nextInt()));
      BinaryWebSocketFrame frame = server.readInbound();
      assertArrayEquals(message, ByteBufUtil.getBytes(frame.content()), length + " bytes");
      assertTrue(frame.isFinalFragment());
      frame.release();
      assertFalse(server.finish(), "bytes behind the frame");
    }
  }

  /** Section 5.7 of RFC 6455, but for the opcode. */
  @Test
  void theExampleOfTheSpecification() {
    ByteBuf buffer = sealed("Hello".getBytes(), 0x37fa213d);
    assertEquals(
        "828537fa213d7f9f4d5158", ByteBufUtil.hexDump(buffer), "Hello, masked with 37 fa 21 3d");
    buffer.release();
  }
}
