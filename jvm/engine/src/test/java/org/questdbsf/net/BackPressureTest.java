package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.questdbsf.net.RawServer.Frame;

/** A server that reads in fits and starts: nothing lost, no wake-up missed, memory bounded. */
class BackPressureTest {
  private static final int TOTAL_BYTES = 96 << 20;
  private static final int STEP_BYTES = 5 << 20;

  @Test
  void aStopAndGoServerGetsEveryByte() throws Exception {
    final long seed = System.nanoTime();
    Semaphore go = new Semaphore(0);
    RecordedEvents events = new RecordedEvents();
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.socket.setReceiveBufferSize(64 << 10);
              peer.upgrade();
              long next = 0;
              int read = 0;
              Frame frame = peer.readFrame();
              while (frame != null && frame.opcode() == 2) {
                ByteBuffer b = ByteBuffer.wrap(frame.payload());
                assertEquals(next++, b.getLong(), "seed " + seed);
                int crc = b.getInt();
                CRC32C sum = new CRC32C();
                sum.update(b);
                assertEquals((int) sum.getValue(), crc, "seed " + seed);
                read += frame.payload().length;
                if (read >= STEP_BYTES) {
                  read = 0; // stands still until the sender has to
                  assertTrue(go.tryAcquire(20, TimeUnit.SECONDS), "seed " + seed);
                }
                frame = peer.readFrame();
              }
              peer.reply(RawServer.ok(next - 1));
              peer.close(1000, "");
            })) {
      Endpoint e = server.endpoint();
      QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e), events);
      Random random = new Random(seed);
      int stalls = 0;
      long sent = 0;
      for (int bytes = 0; bytes < TOTAL_BYTES; sent++) {
        while (!c.isWritable()) {
          stalls++;
          go.release();
          assertTrue(
              events.writable.tryAcquire(20, TimeUnit.SECONDS), "wake-up lost, seed " + seed);
        }
        byte[] message = message(sent, random);
        bytes += message.length;
        QwpConnectionTest.send(c, message);
      }
      assertTrue(stalls > 3, "the test must stall, or it tests nothing: " + stalls);
      go.release(TOTAL_BYTES / STEP_BYTES);
      c.close(20_000);
      assertEquals(new ServerReply.Ok(sent - 1, List.of()), events.reply());
      assertTrue(events.closed().orderly());
    }
  }

  private static byte[] message(long number, Random random) {
    int size = random.nextInt(3) == 0 ? random.nextInt(1 << 20) : random.nextInt(40_000);
    byte[] payload = new byte[size];
    random.nextBytes(payload);
    CRC32C sum = new CRC32C();
    sum.update(payload);
    return ByteBuffer.allocate(12 + size)
        .putLong(number)
        .putInt((int) sum.getValue())
        .put(payload)
        .array();
  }

  /** Megabytes wait in this process for the socket: whoever says they arrived does not know. */
  @Test
  void anOkForWhatOnlyWaitsToBeSentEndsTheConnection() throws Exception {
    RecordedEvents events = new RecordedEvents();
    Semaphore lie = new Semaphore(0);
    CountDownLatch done = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.socket.setReceiveBufferSize(64 << 10);
              peer.upgrade();
              peer.readFrame();
              peer.reply(RawServer.ok(0));
              assertTrue(lie.tryAcquire(20, TimeUnit.SECONDS));
              peer.reply(RawServer.ok(lie.drainPermits()));
              done.await(20, TimeUnit.SECONDS);
            })) {
      Endpoint e = server.endpoint();
      QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e), events);
      final int last = 31; // no system keeps 32 MB for a socket whose other end reads nothing
      for (int n = 0; n <= last; n++) {
        QwpConnectionTest.send(c, new byte[1 << 20]);
      }
      assertEquals(new ServerReply.Ok(0, List.of()), events.reply(), "this one was read");
      lie.release(1 + last);
      CloseInfo end = events.closed();
      done.countDown();
      assertTrue(end.reason().contains("an answer to message " + last), end.toString());
      assertEquals(1, events.count("reply"));
    }
  }

  @Test
  void aServerThatReadsNothingHoldsUpNeitherSenderNorClose() throws Exception {
    RecordedEvents events = new RecordedEvents();
    CountDownLatch done = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            peer -> {
              peer.upgrade();
              done.await(20, TimeUnit.SECONDS);
            })) {
      Endpoint e = server.endpoint();
      QwpConnection c = QwpConnection.open(e, QwpConnectionTest.settings(e), events);
      int frames = 0;
      while (c.isWritable()) {
        QwpConnectionTest.send(c, new byte[1 << 20]);
        assertTrue(++frames < 100, "no bound on what waits in memory");
      }
      long start = System.nanoTime();
      c.close(200);
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10), "bounded");
      assertEquals(CloseInfo.NONE, events.closed().code());
      assertEquals("closed", events.order.get(events.order.size() - 1), "nothing after the end");
      done.countDown();
    }
  }
}
