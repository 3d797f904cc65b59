package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Five hundred connections, well and badly ended, leave no thread and no descriptor behind. */
@EnabledOnOs(OS.LINUX)
class ManyConnectionsTest {
  private static final int WARM_UP = 40;
  private static final int CONNECTS = 500;

  @Test
  void gainNoThreadAndNoDescriptor() throws Exception {
    try (RawServer server =
            new RawServer(
                peer -> {
                  String path = peer.readRequest().header("X-QWP-Client-Id");
                  switch (Integer.parseInt(path) % 5) {
                    case 0 -> peer.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
                    case 1 -> peer.reset();
                    default -> peer.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
                  }
                });
        RawServer good =
            new RawServer(
                peer -> {
                  peer.upgrade();
                  while (peer.readFrame() != null) {
                    continue;
                  }
                })) {
      connect(server, good, WARM_UP);
      int threads = settled(ManyConnectionsTest::threads, 0);
      int descriptors = settled(ManyConnectionsTest::descriptors, 0);
      connect(server, good, CONNECTS);
      int threadsAfter = settled(ManyConnectionsTest::threads, threads);
      int descriptorsAfter = settled(ManyConnectionsTest::descriptors, descriptors);
      assertTrue(threadsAfter <= threads, threads + " threads before, " + threadsAfter + " after");
      assertTrue(
          descriptorsAfter <= descriptors,
          descriptors + " descriptors before, " + descriptorsAfter + " after");
    }
  }

  private static void connect(RawServer bad, RawServer good, int times) throws Exception {
    for (int i = 0; i < times; i++) {
      RecordedEvents events = new RecordedEvents();
      Endpoint e = (i % 2 == 0 ? good : bad).endpoint();
      ConnectSettings settings =
          new ConnectSettings(
              List.of(e), false, TlsSettings.SYSTEM, Credentials.NONE, 5000, 5000, false, "" + i);
      try {
        QwpConnection c = QwpConnection.open(e, settings, events);
        QwpConnectionTest.send(c, new byte[1000]);
        if (i % 4 == 0) {
          c.close(0);
        } else {
          c.abort();
        }
        events.closed();
      } catch (ConnectFailure failure) {
        assertTrue(i % 2 == 1, failure.toString());
      }
    }
  }

  /** Waits until the number is at most the bound, or, with no bound, has stopped falling. */
  private static int settled(IntSupplier number, int bound) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    int last = Integer.MAX_VALUE;
    int now = number.getAsInt();
    while (System.nanoTime() < deadline && (bound > 0 ? now > bound : now < last)) {
      last = now;
      TimeUnit.MILLISECONDS.sleep(200);
      now = number.getAsInt();
    }
    return now;
  }

  private static int threads() {
    return Thread.activeCount();
  }

  private static int descriptors() {
    return new File("/proc/self/fd").list().length;
  }
}
