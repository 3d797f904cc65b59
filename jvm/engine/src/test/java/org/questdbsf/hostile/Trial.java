package org.questdbsf.hostile;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.sender.Sender;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SenderError;

/**
 * One mode on trial: a sender with a slot writes rows while the server misbehaves; how that ends is
 * judged, and what it costs; then the server is healed, and every row has to arrive that it has not
 * acknowledged itself.
 */
final class Trial {
  /** What a trial found. */
  record Result(Mode mode, List<String> faults, Set<Long> lost, long millis) {
    boolean passed() {
      return faults.isEmpty() && lost.isEmpty();
    }
  }

  /** Messages that are sent while the server misbehaves, with a row each. */
  static final int ROWS = 8;

  private static final int ROWS_AFTERWARDS = 2;

  /** For everything that is over in about a second; how slow a machine may be is not on trial. */
  private static final long PATIENCE_MILLIS = 60_000;

  /** An end and two attempts more: it goes on trying. */
  private static final int CONNECTIONS = 3;

  /** Twenty, as documented, and what the server's clock sees late. */
  private static final int MOST_A_SECOND = 22;

  private static final long MOST_BYTES = 64 << 20;

  private final Mode mode;
  private final Path directory;
  private final List<String> faults = new ArrayList<>();
  private final Set<Long> published = new TreeSet<>();
  private final Set<Long> kept = new ConcurrentSkipListSet<>();

  private Trial(Mode mode, Path directory) {
    this.mode = mode;
    this.directory = directory;
  }

  static Result run(Mode mode, Path directory) throws Exception {
    return new Trial(mode, directory).run();
  }

  private Result run() throws Exception {
    long began = System.nanoTime();
    long before = bytesUsed();
    Set<Long> lost = new TreeSet<>();
    try (HostileServer server = new HostileServer(mode)) {
      boolean ended;
      try (Sender sender = open(server)) {
        publish(sender, ROWS);
        judgeEnd(sender, server);
        judgeCost(server, before);
        server.heal();
        ended = sender.terminalError().isPresent();
        if (!ended) {
          finish(sender);
        }
      } catch (SfException e) {
        judge(e);
        ended = true;
      }
      if (ended) {
        server.heal();
        try (Sender sender = open(server)) {
          finish(sender);
        }
      }
      lost.addAll(published);
      lost.removeAll(server.acknowledged());
    }
    lost.removeAll(kept);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    return new Result(mode, faults, lost, millis);
  }

  private Sender open(HostileServer server) throws InterruptedException {
    String config =
        "ws::addr="
            + server.address()
            + ";initial_connect_retry=async;auto_flush=off;sf_dir="
            + directory
            + ";sf_max_segment_bytes=64k;sf_max_total_bytes=4m;auth_timeout_ms=500;"
            + "ack_timeout_millis=600;reconnect_initial_backoff_millis=1;"
            + "reconnect_max_backoff_millis=20;max_frame_rejections=3;"
            + "poison_min_escalation_window_millis=0;close_flush_timeout_millis=0;";
    return Sender.builder(SenderConfig.parse(config))
        .errorHandler(error -> {})
        .deadLetters(this::keep)
        .build();
  }

  private String keep(String slot, long fsn, byte[] frame, SenderError error) {
    kept.addAll(Conversation.numbers(new MessageDecoder(new ConnectionSymbols()), frame));
    return "memory";
  }

  private void publish(Sender sender, int rows) throws InterruptedException {
    for (int i = 0; i < rows; i++) {
      long row = published.size();
      sender
          .table(Conversation.TABLE)
          .longColumn(Conversation.NUMBER, row)
          .at(row, ChronoUnit.MICROS);
      sender.flush();
      published.add(row);
    }
  }

  private void judgeEnd(Sender sender, HostileServer server) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (!hasEnded(sender, server)) {
      if (System.nanoTime() - end > 0) {
        faults.add(
            "not "
                + mode.end()
                + " within "
                + PATIENCE_MILLIS
                + " ms: "
                + server.upgrades()
                + " connections, "
                + sender.state());
        return;
      }
      Thread.sleep(2); // there is no event for "nothing more happens"
    }
    if (sender.terminalError().isPresent()) {
      judge(assertThrows(SfException.class, sender::checkError));
    }
  }

  private void judge(SfException end) {
    if (mode.end() != Mode.End.TERMINAL || end.code() != mode.error()) {
      faults.add("ended by " + end.getMessage());
    }
  }

  private boolean hasEnded(Sender sender, HostileServer server) {
    if (sender.terminalError().isPresent()) {
      return true;
    }
    return switch (mode.end()) {
      case AGAIN -> server.upgrades() >= CONNECTIONS;
      case TAKEN -> sender.ackedFsn() >= sender.publishedFsn();
      case TERMINAL -> false;
    };
  }

  private void judgeCost(HostileServer server, long before) {
    if (server.mostASecond() > MOST_A_SECOND) {
      faults.add(server.mostASecond() + " connections in one second");
    }
    long grown = bytesUsed() - before;
    if (grown > MOST_BYTES) {
      faults.add((grown >> 20) + " MiB more than before");
    }
  }

  /** As of the last collection: what a server that floods has made since is garbage. */
  private static long bytesUsed() {
    System.gc();
    return PlatformDependent.usedDirectMemory()
        + ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .mapToLong(pool -> pool.getCollectionUsage().getUsed())
            .sum();
  }

  private void finish(Sender sender) throws InterruptedException {
    publish(sender, ROWS_AFTERWARDS);
    if (!sender.drain(PATIENCE_MILLIS)) {
      faults.add("not drained after the server was healed: " + sender.state());
    }
  }
}
