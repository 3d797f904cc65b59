package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.questdbsf.net.RawServer.Frame;
import org.questdbsf.net.RawServer.Request;

class QwpConnectionTest {
  private final RecordedEvents events = new RecordedEvents();

  static ConnectSettings settings(Endpoint endpoint) {
    return settings(endpoint, Credentials.NONE);
  }

  static ConnectSettings settings(Endpoint endpoint, Credentials credentials) {
    return new ConnectSettings(
        List.of(endpoint), false, TlsSettings.SYSTEM, credentials, 5000, 5000, false, "t/1");
  }

  static void send(QwpConnection connection, byte[] message) {
    ByteBuf buffer = connection.allocate(message.length);
    buffer.writeBytes(message);
    connection.send(buffer);
  }

  @Test
  void sendsMessagesAndReportsReplies() throws Exception {
    BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    BlockingQueue<Frame> frames = new LinkedBlockingQueue<>();
    try (RawServer server =
        new RawServer(
            peer -> {
              requests.add(
                  peer.upgrade(
                      "X-QWP-Version: 1",
                      "X-QWP-Max-Batch-Size: 2097138",
                      "X-QuestDB-Role: PRIMARY"));
              frames.add(peer.readFrame());
              peer.reply(RawServer.ok(0, new TableTxn("t", 9)));
              frames.add(peer.readFrame());
              peer.close(1000, "bye");
            })) {
      try (QwpConnection c =
          QwpConnection.open(server.endpoint(), settings(server.endpoint()), events)) {
        assertEquals(2097138, c.maxBatchBytes());
        assertEquals("PRIMARY", c.role());
        assertFalse(c.durableAck());
        assertTrue(c.isWritable());
        byte[] message = {1, 2, 3, 4, 5};
        send(c, message);
        assertEquals(new ServerReply.Ok(0, List.of(new TableTxn("t", 9))), events.reply());
        c.close(5000);
        Frame data = frames.take();
        assertTrue(data.fin() && data.masked() && data.opcode() == 2);
        assertArrayEquals(message, data.payload());
        assertEquals(1000, frames.take().closeCode());
        assertEquals(new CloseInfo(1000, "bye", null, true), events.closed());
      }
      Request request = requests.take();
      assertEquals("GET /write/v4 HTTP/1.1", request.line());
      assertEquals(server.endpoint().toString(), request.header("Host"));
      assertEquals("1", request.header("X-QWP-Max-Version"));
      assertEquals("t/1", request.header("X-QWP-Client-Id"));
      assertEquals("13", request.header("Sec-WebSocket-Version"));
      assertEquals(24, request.header("Sec-WebSocket-Key").length());
      assertNull(request.header("Origin"));
      assertNull(request.header("Authorization"));
      assertNull(request.header("X-QWP-Request-Durable-Ack"));
      assertNull(request.header("Sec-WebSocket-Extensions"));
    }
  }
}
