package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.testserver.CutRule;
import org.questdbsf.testserver.NackRule;
import org.questdbsf.testserver.TestServer;
import org.questdbsf.testserver.TestServerOptions;

/**
 * Senders are opened, used, interrupted and closed in every way, by several threads, while the
 * server refuses, falls silent, cuts connections, and is stopped and started. Whatever happened:
 * when all of them were told to end, no thread, ring, budget, lock, descriptor or connection is
 * left. {@code -Dstop.stress.seconds} and {@code -Dstop.stress.seed} make it longer, or the same
 * again.
 */
@Timeout(600)
class StopStressTest {
  private static final int WORKERS = 6;

  /** Senders, however slow the machine is. */
  private static final int LEAST = 40;

  private static final long SECONDS = Long.getLong("stop.stress.seconds", 5);
  private static final long SEED = Long.getLong("stop.stress.seed", System.nanoTime());

  @TempDir Path dir;
  private final SegmentKeeper keeper = new SegmentKeeper();
  private final SegmentBudget budget = new SegmentBudget(4 << 20);
  private final Collection<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger interrupts = new AtomicInteger();
  private volatile long end;
  private volatile int port;

  @Test
  void nothingIsLeftBehind() throws Exception {
    SplittableRandom seeds = new SplittableRandom(SEED);
    System.out.println("seed " + SEED);
    Path root = Files.createDirectories(dir.resolve("db"));
    Path slots = Files.createDirectories(dir.resolve("slots"));
    TestServer server = TestServer.start(TestServerOptions.defaults().withRoot(root));
    port = server.port();
    end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    try {
      List<Thread> threads = new ArrayList<>();
      for (int n = 0; n < WORKERS; n++) {
        threads.add(new Worker(n, seeds.split(), slots));
      }
      threads.forEach(Thread::start);
      SplittableRandom random = seeds.split();
      while (goesOn()) {
        server = misbehave(server, random, threads);
        TimeUnit.MILLISECONDS.sleep(random.nextInt(40)); // how long it lasts is the scenario
      }
      server.script().reset();
      for (Thread thread : threads) {
        thread.join(TimeUnit.SECONDS.toMillis(90));
        if (thread.isAlive()) {
          wrong.add(thread + " does not end: " + List.of(thread.getStackTrace()));
        }
      }
      assertNothingIsLeft(slots);
    } finally {
      server.close();
      keeper.close();
    }
    System.out.println(opened + " senders, " + interrupts + " interrupts, seed " + SEED);
    assertEquals(List.of(), List.copyOf(wrong), "seed " + SEED);
  }

  private boolean goesOn() {
    return System.nanoTime() - end < 0 || opened.get() < LEAST;
  }

  private TestServer misbehave(TestServer server, SplittableRandom random, List<Thread> threads) {
    switch (random.nextInt(20)) {
      case 0 -> server.script().silent(true);
      case 1 -> server.script().refuse(random.nextBoolean() ? 503 : 401, Map.of());
      case 2 -> server.script().holdAcks(true);
      case 3 -> server.script().ackDelayMillis(random.nextInt(30));
      case 4 -> server.script().drop(CutRule.drop(random.nextInt(4)));
      case 5 -> server.script().close(CutRule.close(1011, "no", random.nextInt(4)));
      case 6 -> server.script().nack(NackRule.once(random.nextBoolean() ? 9 : 6, "no"));
      case 7 -> server.script().upgradeDelayMillis(random.nextInt(100));
      case 8, 9 -> {
        threads.get(random.nextInt(threads.size())).interrupt();
        interrupts.incrementAndGet();
      }
      case 10 -> {
        if (random.nextInt(20) == 0) {
          server.close();
          TestServerOptions same = TestServerOptions.defaults().withRoot(server.root());
          return TestServer.start(same.withPorts(port));
        }
      }
      default -> server.script().reset();
    }
    return server;
  }

  private void assertNothingIsLeft(Path slots) throws InterruptedException {
    assertTrueEventually(() -> sendThreads().isEmpty(), "threads end: " + sendThreads());
    assertTrueEventually(() -> keeper.registered() == 0, "rings: " + keeper.registered());
    assertTrueEventually(() -> budget.usedBytes() == 0, "bytes: " + budget.usedBytes());
    assertTrueEventually(() -> held(slots).isEmpty(), "held: " + held(slots));
    assertTrueEventually(() -> connections() == 0, "connections: " + connections());
  }

  private static List<String> sendThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("questdb-sf-send-") || name.contains("orphan"))
        .toList();
  }

  /** Descriptors and maps of files below a directory, locks included. */
  private static List<String> held(Path slots) {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"));
        Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      List<String> found = new ArrayList<>();
      for (Path descriptor : open.toList()) {
        try {
          found.add(Files.readSymbolicLink(descriptor).toString());
        } catch (IOException e) {
          continue; // closed meanwhile
        }
      }
      found.addAll(maps.toList());
      found.removeIf(line -> !line.contains(slots.toString()));
      return found;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Connections to the server that this process has not closed. */
  private long connections() {
    String remote = String.format(":%04X", port);
    long count = 0;
    for (String file : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
      try (Stream<String> lines = Files.lines(Path.of(file))) {
        count +=
            lines
                .map(line -> line.trim().split("\\s+"))
                .filter(f -> f[2].endsWith(remote) && (f[3].equals("01") || f[3].equals("08")))
                .count();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
    return count;
  }

  private final class Worker extends Thread {
    private final int number;
    private final SplittableRandom random;
    private final Path slots;

    private Worker(int number, SplittableRandom random, Path slots) {
      super("stress-" + number);
      this.number = number;
      this.random = random;
      this.slots = slots;
    }

    @Override
    public void run() {
      while (goesOn()) {
        try {
          once();
        } catch (InterruptedException e) {
          continue;
        } catch (SfException e) {
          if (e.code() == ErrorCode.INTERNAL_FAULT) {
            note(e);
          }
        } catch (RuntimeException | Error e) {
          note(e);
        }
      }
    }

    private void note(Throwable e) {
      wrong.add(e + " at " + List.of(e.getStackTrace()) + " because of " + e.getCause());
    }

    private void once() throws InterruptedException {
      boolean store = random.nextBoolean();
      String keys =
          "initial_connect_retry="
              + List.of("off", "on", "async", "async").get(random.nextInt(4))
              + ";reconnect_max_duration_millis="
              + (100 + random.nextInt(2000))
              + ";ack_timeout_millis=200;auth_timeout_ms=200;close_flush_timeout_millis="
              + random.nextInt(60)
              + ";sf_max_segment_bytes=4k;sf_append_deadline_millis=100;"
              + (store
                  ? "sf_dir="
                      + slots
                      + ";sf_min_free_bytes=0;sender_id=s"
                      + number
                      + "-"
                      + random.nextInt(2)
                      + ";drain_orphans="
                      + (random.nextInt(4) == 0 ? "all" : "off")
                      + ";"
                  : "");
      SenderBuilder builder = Senders.builder("127.0.0.1:" + port, keys);
      builder.keeper(keeper).budget(budget).errorHandler(error -> {});
      if (random.nextBoolean()) {
        builder.policies(PolicyDefaults.SINK);
      }
      if (random.nextBoolean()) {
        builder.gate(check());
      }
      Sender sender = builder.build();
      opened.incrementAndGet();
      try {
        use(sender);
      } finally {
        end(sender);
      }
    }

    private TableCheck check() {
      SenderConfig config = SenderConfig.parse("ws::addr=127.0.0.1:" + port);
      TableCheck check = new TableCheck(new SqlOverHttp(config.connectSettings()));
      check.require(
          TableSpec.builder("t")
              .column(Database.NUMBER, QwpType.LONG)
              .column(Senders.SYMBOL, QwpType.SYMBOL)
              .designated("ts", QwpType.TIMESTAMP)
              .onMissing(OnMissingTable.CREATE)
              .build());
      return check;
    }

    private void use(Sender sender) throws InterruptedException {
      for (int n = random.nextInt(20); n > 0; n--) {
        Senders.publish(sender, "t", n, n + 1 + random.nextInt(20));
        if (random.nextInt(4) == 0) {
          sender.awaitAcked(sender.publishedFsn(), random.nextInt(50));
        }
      }
    }

    /** In every way there is: this thread or another, both at once, interrupted or not. */
    private void end(Sender sender) throws InterruptedException {
      Thread other = null;
      if (random.nextInt(4) == 0) {
        other = new Thread(sender::discard, getName() + "-other");
        other.start();
      }
      if (random.nextInt(4) == 0) {
        interrupt();
      }
      try {
        if (random.nextBoolean()) {
          sender.close();
        } else {
          sender.discard();
        }
      } finally {
        if (other != null) {
          interrupted();
          other.join();
        }
      }
    }
  }
}
