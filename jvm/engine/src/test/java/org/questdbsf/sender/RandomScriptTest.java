package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.net.TableTxn;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/**
 * Servers that do whatever servers may do, at random, against a model of what must hold: no row is
 * lost, only frames that the server always refuses are dropped, nothing acknowledged is sent again,
 * and the watermark never passes what the server said.
 */
@Timeout(60)
class RandomScriptTest {
  private static final int FRAMES = 120;
  private static final int ROWS = 3;
  private static final long BUDGET_NANOS = 12_000_000_000L;

  /** One run; everything in it happens on the server's thread unless it says otherwise. */
  private static final class Run implements ScriptServer.Script {
    final SplittableRandom random;
    final boolean durable;
    final Database database = new Database();
    final Set<Long> poison = new HashSet<>();
    final List<Long> buried = new CopyOnWriteArrayList<>(); // by the loop's thread
    volatile Sender sender;
    volatile long settled = -1; // highest FSN an OK or durable ack covers
    volatile boolean calm;
    private long ackedAtUpgrade = -1;
    private long txn;
    private final List<Long> fsnOfSequence = new ArrayList<>();
    private long[] pendingDurable = {}; // fsn, txn

    Run(long seed) {
      this.random = new SplittableRandom(seed);
      this.durable = random.nextInt(3) == 0;
      for (int i = random.nextInt(5); i > 0; i--) {
        poison.add((long) random.nextInt(FRAMES));
      }
    }

    @Override
    public Upgrade upgrade(int connection) {
      int dice = calm ? 9 : random.nextInt(12);
      if (dice == 0) {
        return Upgrade.refuse(503);
      }
      if (dice == 1) {
        return Upgrade.refuse(421, "X-QuestDB-Role", "REPLICA");
      }
      if (dice == 2) {
        return Upgrade.refuse(421, "X-QuestDB-Role", "PRIMARY_CATCHUP");
      }
      ackedAtUpgrade = sender == null ? -1 : sender.ackedFsn();
      fsnOfSequence.clear();
      pendingDurable = new long[] {-1, -1};
      Upgrade upgrade =
          random.nextBoolean() ? Upgrade.accept() : Upgrade.accept("X-QWP-Max-Batch-Size", "4096");
      if (durable) {
        upgrade.headers().set("X-QWP-Durable-Ack", "enabled");
      }
      return upgrade;
    }

    @Override
    public void message(Session session, long sequence, QwpMessage message) {
      if (message.tables().isEmpty()) {
        fsnOfSequence.add(ackedAtUpgrade);
        return;
      }
      List<Long> numbers = Database.numbersOf(message.tables().get(0));
      long fsn = numbers.get(0) / ROWS;
      assertEquals(ROWS, numbers.size(), "rows of frame " + fsn);
      assertTrue(fsn > ackedAtUpgrade, "frame " + fsn + " was acknowledged, and is sent again");
      assertTrue(
          sender.ackedFsn() <= Math.max(settled, highestBuried()),
          "acknowledged " + sender.ackedFsn() + ", said " + settled);
      fsnOfSequence.add(fsn);
      if (poison.contains(fsn)) {
        session.nack(random.nextBoolean() ? 0x03 : 0x05, sequence, "always refused");
        return;
      }
      int dice = calm ? 50 : random.nextInt(100);
      switch (dice) {
        case 0 -> session.nack(0x06, sequence, "now and then");
        case 1 -> session.nack(0x0C, sequence, "not writable");
        case 2 -> session.nack(0x7F, sequence, "what is this");
        case 3 -> session.closeWith(1000, "bye");
        case 4 -> session.closeWith(1011, "oops");
        case 5 -> session.closeWith(4001, "role");
        case 6 -> session.reset();
        case 7 -> {
          database.accept(message);
          session.reset();
        }
        case 8 -> session.raw(new byte[] {0, 1, 2});
        case 9 -> {
          database.accept(message);
          if (!durable) {
            settled = Math.max(settled, fsnOfSequence.get(0));
            session.ok(0); // an old one again: says nothing new
          }
        }
        default -> {
          database.accept(message);
          txn++;
          if (calm || dice % 3 == 0) {
            ok(session, sequence);
          }
          if (durable && (calm || dice % 5 == 0)) {
            confirm(session);
          }
        }
      }
    }

    private void ok(Session session, long sequence) {
      long fsn = fsnOfSequence.get((int) sequence);
      if (durable) {
        pendingDurable = new long[] {fsn, txn};
      } else {
        settled = Math.max(settled, fsn);
      }
      session.okNaming(sequence, new TableTxn("t", txn));
    }

    private void confirm(Session session) {
      if (pendingDurable[0] >= 0) {
        settled = Math.max(settled, pendingDurable[0]);
        session.durable(new TableTxn("t", pendingDurable[1]));
      }
    }

    @Override
    public boolean ping(Session session) {
      if (session.received() > 0 && !fsnOfSequence.isEmpty()) {
        ok(session, fsnOfSequence.size() - 1);
        if (durable) {
          confirm(session);
        }
      }
      return true;
    }

    private long highestBuried() {
      return buried.stream().mapToLong(Long::longValue).max().orElse(-1);
    }
  }

  @Test
  void nothingIsLostAndNothingInventedWhateverTheServerDoes() throws Exception {
    long first = Long.getLong("seed", System.nanoTime());
    long end = System.nanoTime() + BUDGET_NANOS;
    int runs = 0;
    for (long seed = first; System.nanoTime() < end; seed++, runs++) {
      try {
        run(new Run(seed));
      } catch (AssertionError | Exception e) {
        throw new AssertionError("-Dseed=" + seed + " (run " + runs + ")", e);
      }
    }
    System.err.println(runs + " runs from seed " + first);
    assertTrue(runs > 3, "runs: " + runs);
  }

  private static void run(Run run) throws Exception {
    String durable = run.durable ? "request_durable_ack=on;" : "";
    try (ScriptServer server = new ScriptServer(run)) {
      SenderBuilder builder =
          Senders.builder(
                  server.address(),
                  durable
                      + "durable_ack_keepalive_interval_millis=5;sf_max_total_bytes=64k;"
                      + "on_schema_error=drop;on_parse_error=drop;on_internal_error=retry;"
                      + "on_unknown_error=retry;on_server_error=retriable_other;"
                      + "close_flush_timeout_millis=0;frame_bytes=1024;reconnect_max_duration_millis=0;"
                      + "sf_max_segment_bytes=4k;poison_min_escalation_window_millis=600000;")
              .policies(PolicyDefaults.SINK)
              .deadLetters(
                  (slot, fsn, frame, error) -> {
                    run.buried.add(fsn);
                    return "here";
                  });
      builder.errorHandler(error -> {});
      try (Sender sender = builder.build()) {
        run.sender = sender;
        for (long fsn = 0; fsn < FRAMES; fsn++) {
          long published = Senders.publish(sender, "t", fsn * ROWS, fsn * ROWS + ROWS);
          assertEquals(fsn, published);
        }
        run.calm = true;
        sender.awaitAcked(FRAMES - 1);
      }
      Set<Long> there = new HashSet<>(run.database.all("t"));
      for (long n = 0; n < FRAMES * ROWS; n++) {
        boolean dropped = run.buried.contains(n / ROWS);
        assertEquals(run.poison.contains(n / ROWS), dropped, "dropped row " + n);
        assertEquals(!dropped, there.contains(n), "row " + n + " in the database");
      }
    }
  }
}
