package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replies answer what was sent, and wait in the server's socket until they are taken. */
@Timeout(60)
class SentAndTakenTest {
  private final RecordedEvents events = new RecordedEvents();

  private QwpConnection open(RawServer server) throws Exception {
    Endpoint e = server.endpoint();
    return QwpConnection.open(e, QwpConnectionTest.settings(e), events);
  }

  @Test
  void endsOnAnswersToWhatWasNotSent() throws Exception {
    for (byte[] reply :
        List.of(RawServer.ok(1), RawServer.ok(Long.MAX_VALUE), RawServer.nack(9, 1, "no"))) {
      try (RawServer server =
          new RawServer(
              peer -> {
                peer.upgrade();
                peer.readFrame();
                peer.reply(RawServer.ok(0));
                peer.reply(reply);
                assertEquals(1002, peer.readFrame().closeCode());
              })) {
        QwpConnection c = open(server);
        QwpConnectionTest.send(c, new byte[] {1});
        assertEquals(new ServerReply.Ok(0, List.of()), events.reply());
        String reason = events.closed().reason();
        assertTrue(reason.contains("where 1 were sent"), reason);
      }
    }
  }

  /** What a caller sends the moment that it has the connection counts as sent. */
  @Test
  void countsTheFirstMessage() throws Exception {
    for (int round = 0; round < 50; round++) {
      RecordedEvents mine = new RecordedEvents();
      try (RawServer server =
          new RawServer(
              peer -> {
                peer.upgrade();
                peer.readFrame();
                peer.reply(RawServer.ok(0));
                peer.readFrame();
              })) {
        Endpoint e = server.endpoint();
        QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e), mine);
        QwpConnectionTest.send(c, new byte[] {1});
        assertEquals(new ServerReply.Ok(0, List.of()), mine.reply());
        c.close(0);
      }
    }
  }

  /** A server that replies faster than they are dealt with fills its own socket, not our memory. */
  @Test
  void readsNoMoreRepliesThanAreTaken() throws Exception {
    byte[] reply = RawServer.durable(new TableTxn("t".repeat(10_000), 1));
    AtomicInteger written = new AtomicInteger();
    int all = 4000;
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              for (int i = 0; i < all; i++) {
                peer.reply(reply);
                written.incrementAndGet();
              }
              peer.close(1000, "");
              peer.readFrame();
            })) {
      QwpConnection c = open(server);
      int waiting = 0;
      while (waiting != events.count("reply") || waiting == 0) {
        waiting = events.count("reply");
        Thread.sleep(300); // nothing tells that nothing comes
      }
      assertTrue(waiting < 500, waiting + " replies wait to be taken");
      assertTrue(written.get() < all, "the server has to wait");
      for (int i = 0; i < all; i++) {
        events.reply();
        c.taken(reply.length);
      }
      assertEquals(1000, events.closed().code());
    }
  }
}
