package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.TableBlock;

/** Blocks that were published only in part when the room ended. */
@Timeout(30)
class PartTest {
  private static final String SMALL =
      "sf_max_segment_bytes=4k;sf_max_total_bytes=8k;frame_rows=20;sf_append_deadline_millis=100;";

  private static void add(TableBlock block, long from, long to) {
    for (long n = from; n < to; n++) {
      Senders.addRow(block, n);
    }
  }

  /** Publishes more than there is room for. */
  private static void overfill(Sender sender, TableBlock block) {
    SfException thrown = assertThrows(SfException.class, () -> sender.publish(block));
    assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, thrown.code());
    assertTrue(sender.publishedFsn() > 0, "some frames found room");
  }

  @Test
  void publishingAgainGoesOnWhereItStopped() throws Exception {
    Database database = new Database();
    Recorder[] self = new Recorder[1];
    boolean[] answers = {false};
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              database.accept(message);
              if (answers[0]) {
                session.ok(sequence);
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, SMALL)) {
      TableBlock block = sender.newBlock("t");
      add(block, 0, 1000);
      overfill(sender, block);
      assertTrueEventually(() -> self[0].all().size() > sender.publishedFsn(), "sent");
      server.run(
          () -> {
            answers[0] = true;
            server.open.forEach(s -> s.ok(s.received() - 1));
          });
      add(block, 1000, 1100);
      publishAll(sender, block);
      assertTrue(sender.drain(10_000));
      database.assertComplete("t", 1100);
      assertEquals(1100, database.all("t").size(), "none twice");
    }
  }

  /** However short of room: what was published is not published again. */
  private static void publishAll(Sender sender, TableBlock block) throws InterruptedException {
    while (block.rows() > 0) {
      try {
        sender.publish(block);
      } catch (SfException e) {
        assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, e.code());
      }
    }
  }

  @Test
  void aBlockThatWasClearedMeanwhileStartsAfresh() throws Exception {
    Recorder silent = new Recorder((session, sequence, n, message) -> {});
    try (ScriptServer server = new ScriptServer(silent);
        Sender sender = Senders.open(server, SMALL + "close_flush_timeout_millis=0;")) {
      TableBlock block = sender.newBlock("t");
      add(block, 0, 1000);
      overfill(sender, block);
      long published = sender.publishedFsn();
      assertTrueEventually(() -> silent.all().size() > published, "sent");
      block.clear();
      add(block, 5000, 7000);
      server.run(() -> server.open.forEach(s -> s.ok(s.received() - 1)));
      assertTrueEventually(() -> sender.ackedFsn() >= published, "room");
      assertThrows(SfException.class, () -> sender.publish(block));
      assertTrueEventually(() -> silent.all().contains(5000L), "from its first row on");
    }
  }
}
