package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.RawServer.Frame;
import org.questdbsf.net.RawServer.Script;

/** What the connection makes of each kind of frame, and of each way to end. */
class FramesTest {
  private final RecordedEvents events = new RecordedEvents();

  private QwpConnection open(RawServer server) throws Exception {
    Endpoint e = server.endpoint();
    return QwpConnection.open(e, QwpConnectionTest.settings(e), events);
  }

  private void assertClosedOnceAndLast() {
    assertEquals(1, events.count("closed"), events.order.toString());
    assertEquals("closed", events.order.get(events.order.size() - 1), events.order.toString());
  }

  private CloseInfo endOf(Script script) throws Exception {
    try (RawServer server = new RawServer(script)) {
      QwpConnection c = open(server);
      CloseInfo info = events.closed();
      assertFalse(c.isWritable());
      QwpConnectionTest.send(c, new byte[10]); // dropped without a word
      c.ping();
      c.close(); // returns at once
      c.abort();
      assertClosedOnceAndLast();
      return info;
    }
  }

  @Test
  void takesFramesThatArriveWithThe101() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              ByteArrayOutputStream all = new ByteArrayOutputStream();
              all.writeBytes(
                  RawServer.switching(peer.readRequest()).getBytes(StandardCharsets.ISO_8859_1));
              all.writeBytes(RawServer.frame(true, 2, RawServer.durable(new TableTxn("t", 7))));
              all.writeBytes(RawServer.frame(true, 9, new byte[] {1}));
              all.writeBytes(RawServer.frame(true, 2, RawServer.durable()));
              peer.write(all.toByteArray());
              assertEquals(10, peer.readFrame().opcode());
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      assertEquals(new ServerReply.DurableAck(List.of(new TableTxn("t", 7))), events.reply());
      assertEquals(new ServerReply.DurableAck(List.of()), events.reply());
      c.close(0);
    }
  }

  @Test
  void joinsFragmentsAroundAPing() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              byte[] ok = RawServer.durable(new TableTxn("trades", 12));
              peer.write(RawServer.frame(false, 2, Arrays.copyOfRange(ok, 0, 4)));
              peer.write(RawServer.frame(false, 0, Arrays.copyOfRange(ok, 4, 9)));
              peer.write(RawServer.frame(true, 9, "?".getBytes(StandardCharsets.UTF_8)));
              assertEquals(10, peer.readFrame().opcode());
              peer.write(RawServer.frame(true, 0, Arrays.copyOfRange(ok, 9, ok.length)));
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      assertEquals(new ServerReply.DurableAck(List.of(new TableTxn("trades", 12))), events.reply());
      c.close(0);
    }
  }

  @Test
  void takesRepliesByteByByte() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              for (byte b : RawServer.frame(true, 2, RawServer.durable(new TableTxn("t", 1)))) {
                peer.write(new byte[] {b});
              }
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      assertEquals(new ServerReply.DurableAck(List.of(new TableTxn("t", 1))), events.reply());
      c.close(0);
    }
  }

  @Test
  void takesAReplyWithTenThousandTables() throws Exception {
    TableTxn[] tables = new TableTxn[10_000];
    for (int i = 0; i < tables.length; i++) {
      tables[i] = new TableTxn("é".repeat(60) + i, i);
    }
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              peer.reply(RawServer.durable(tables));
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      assertEquals(new ServerReply.DurableAck(List.of(tables)), events.reply());
      c.close(0);
    }
  }

  @Test
  void answersPingsAndHearsPongs() throws Exception {
    BlockingQueue<Frame> frames = new LinkedBlockingQueue<>();
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              peer.write(RawServer.frame(true, 9, new byte[] {4, 5, 6}));
              frames.add(peer.readFrame());
              Frame ping = peer.readFrame();
              frames.add(ping);
              peer.write(RawServer.frame(true, 10, ping.payload()));
              peer.reply(RawServer.durable());
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      Frame pong = frames.poll(10, TimeUnit.SECONDS);
      assertEquals(10, pong.opcode());
      assertTrue(pong.masked());
      assertArrayEquals(new byte[] {4, 5, 6}, pong.payload());
      c.ping();
      assertEquals(9, frames.poll(10, TimeUnit.SECONDS).opcode());
      events.reply();
      c.close(0);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1000, true", "1001, true", "1002, false", "1003, false", "1007, false", "1008, false",
    "1009, false", "1010, false", "1011, false", "1012, false", "3000, false", "4001, false",
  })
  void reportsAndEchoesCloseCodes(int code, boolean orderly) throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              peer.close(code, "because é");
              Frame echo = peer.readFrame();
              assertEquals(8, echo.opcode());
              assertEquals(code, echo.closeCode());
              assertNull(peer.readFrame(), "nothing follows the echo");
            });
    assertEquals(new CloseInfo(code, "because é", null, orderly), info);
  }

  @Test
  void anEmptyCloseIsOrderly() throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              peer.write(RawServer.frame(true, 8, new byte[0]));
              assertEquals(0, peer.readFrame().payload().length);
            });
    assertEquals(new CloseInfo(CloseInfo.NO_STATUS, "", null, true), info);
  }

  @Test
  void reportsAFin() throws Exception {
    CloseInfo info = endOf(peer -> peer.upgrade());
    assertEquals(CloseInfo.NONE, info.code());
    assertFalse(info.orderly());
    assertNull(info.cause());
    assertTrue(info.reason().contains("without a close frame"), info.reason());
  }

  @Test
  void reportsARst() throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              peer.reset();
            });
    assertEquals(CloseInfo.NONE, info.code());
    assertFalse(info.orderly());
    assertInstanceOf(IOException.class, info.cause());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "0005",
        "000500000000000000000100",
        "02ffff",
        "03060000000000000004006261",
        "0e0000",
        "0000000000000000800000",
        "020100000009000000000000000000",
        "02000000",
      })
  void endsOnMalformedRepliesWith1002(String hex) throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              ByteArrayOutputStream all = new ByteArrayOutputStream();
              all.writeBytes(RawServer.frame(true, 2, RawServer.durable()));
              all.writeBytes(RawServer.frame(true, 2, HexFormat.of().parseHex(hex)));
              all.writeBytes(RawServer.frame(true, 2, RawServer.durable()));
              all.writeBytes(RawServer.frame(true, 8, RawServer.closePayload(1002, "yours")));
              peer.write(all.toByteArray());
              Frame close = peer.readFrame();
              assertEquals(8, close.opcode());
              assertEquals(1002, close.closeCode());
            });
    assertEquals(CloseInfo.NONE, info.code(), "our complaint is not the server's close code");
    assertInstanceOf(MalformedReplyException.class, info.cause());
    assertEquals(1, events.count("reply"), "nothing behind a malformed reply is believed");
  }

  @Test
  void endsOnATextFrameWith1003() throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              peer.write(RawServer.frame(true, 1, new byte[] {'h', 'i'}));
              assertEquals(1003, peer.readFrame().closeCode());
            });
    assertEquals(CloseInfo.NONE, info.code());
    assertTrue(info.reason().contains("text frame"), info.reason());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c20100", // RSV1
        "828101020304ff", // masked
        "800100", // continuation of nothing
        "880203e7", // close code 999
        "880203ed", // close code 1005
        "827f0000000010000000", // 256 MiB
        "830100", // opcode 3
      })
  void endsOnBrokenFrames(String hex) throws Exception {
    CloseInfo info =
        endOf(
            peer -> {
              peer.upgrade();
              peer.write(HexFormat.of().parseHex(hex));
              while (peer.readFrame() != null) {
                continue;
              }
            });
    assertEquals(CloseInfo.NONE, info.code());
    assertFalse(info.orderly());
    assertTrue(info.cause() != null, info.reason());
  }

  @Test
  void closeReportsLateRepliesBeforeTheEcho() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              assertEquals(2, peer.readFrame().opcode());
              assertEquals(1000, peer.readFrame().closeCode());
              for (int i = 0; i < 100; i++) {
                peer.reply(RawServer.ok(0));
              }
              peer.close(1000, "");
              assertNull(peer.readFrame());
            })) {
      QwpConnection c = open(server);
      QwpConnectionTest.send(c, new byte[] {1});
      c.close(10_000);
      assertClosedOnceAndLast();
      assertEquals(100, events.count("reply"));
      assertEquals(new CloseInfo(1000, "", null, true), events.closed());
    }
  }

  @Test
  void closeResetsAServerThatDoesNotAnswer() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              assertEquals(1000, peer.readFrame().closeCode());
              assertFalse(peer.endedByFin(), "RST expected");
            })) {
      QwpConnection c = open(server);
      long start = System.nanoTime();
      c.close(100);
      assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(90));
      assertClosedOnceAndLast();
      CloseInfo info = events.closed();
      assertEquals(CloseInfo.NONE, info.code());
      assertFalse(info.orderly());
      assertTrue(info.reason().contains("did not answer"), info.reason());
    }
  }

  @Test
  void anInterruptOfCloseResetsAndIsKept() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              peer.readFrame();
              assertFalse(peer.endedByFin(), "RST expected");
            })) {
      QwpConnection c = open(server);
      Thread.currentThread().interrupt();
      c.close(60_000);
      assertTrue(Thread.interrupted());
      assertClosedOnceAndLast();
    }
  }

  @Test
  void abortResetsAtOnce() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              assertFalse(peer.endedByFin(), "RST expected");
            })) {
      open(server).abort();
      CloseInfo info = events.closed();
      assertEquals("reset by this client", info.reason());
      assertNull(info.cause());
    }
  }

  @Test
  void endsOnceWhenEverybodyEndsItAtOnce() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              try {
                for (int i = 0; i < 20; i++) {
                  peer.reply(RawServer.durable(new TableTxn("t", i)));
                }
                peer.close(1001, "");
              } catch (IOException e) {
                return; // the client was faster
              }
            })) {
      for (int round = 0; round < 50; round++) {
        RecordedEvents mine = new RecordedEvents();
        Endpoint e = server.endpoint();
        QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e), mine);
        Thread closer = new Thread(() -> c.close(500));
        Thread aborter = new Thread(round % 2 == 0 ? c::abort : c::close);
        closer.start();
        aborter.start();
        QwpConnectionTest.send(c, new byte[100]);
        closer.join();
        aborter.join();
        mine.closed();
        assertEquals(1, mine.count("closed"), mine.order.toString());
        assertEquals("closed", mine.order.get(mine.order.size() - 1));
      }
    }
  }
}
