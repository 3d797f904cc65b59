package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.ScriptServer.Session;

/** A producer at full rate while the server cuts the connection a thousand times. */
@Timeout(60)
class CutsTest {
  private static final int CUTS = 1000;

  /** Cuts after a random number of messages, before or after accepting and acknowledging. */
  private static final class Cutter implements ScriptServer.Script {
    final Database database;
    final SplittableRandom random;
    volatile int cuts;
    private long cutAt;

    Cutter(Database database, long seed) {
      this.database = database;
      this.random = new SplittableRandom(seed);
      cutAt = 3;
    }

    @Override
    public void message(Session session, long sequence, QwpMessage message) {
      boolean cut = cuts < CUTS && --cutAt <= 0;
      int how = cut ? random.nextInt(3) : 2;
      if (how > 0) {
        database.accept(message);
      }
      // The first at once, as servers do when one read brought no more.
      boolean due = sequence < 2 || sequence % 8 == 7 || random.nextInt(4) == 0 || cuts >= CUTS;
      if (how > 1 && due) {
        session.ok(sequence);
      }
      if (cut) {
        cuts++;
        cutAt = 1 + random.nextInt(12);
        session.reset();
      }
    }
  }

  @Test
  void nothingIsLostOrOutOfOrder() throws Exception {
    long seed = System.nanoTime();
    Database database = new Database();
    Cutter cutter = new Cutter(database, seed);
    long n = 0;
    try (ScriptServer server = new ScriptServer(cutter);
        Sender sender =
            Senders.open(server, "sf_max_total_bytes=1m;sf_append_deadline_millis=50000;")) {
      TableBlock block = sender.newBlock("t");
      while (cutter.cuts < CUTS || n < 100_000) {
        for (int i = 0; i < 20; i++) {
          Senders.addRow(block, n++);
        }
        sender.publish(block);
      }
      assertTrue(sender.drain(20_000), "drained, seed " + seed);
      database.assertComplete("t", n);
      assertEquals(0, sender.counters().unackedBytes(), "seed " + seed);
      assertTrue(sender.counters().reconnectsSucceeded() >= CUTS, "seed " + seed);
      assertTrue(sender.counters().framesReplayed() > 0, "seed " + seed);
    }
  }
}
