package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows to acknowledgements, without trouble. */
@Timeout(30)
class SenderTest {
  @Test
  void rowsArriveAndAreAcknowledged() throws Exception {
    Database database = new Database();
    try (ScriptServer server = new ScriptServer(database.acceptAll());
        Sender sender = Senders.open(server, "auto_flush_rows=10;")) {
      for (int n = 0; n < 1005; n++) {
        Senders.writeRow(sender, "t", n);
      }
      assertTrue(sender.drain(10_000));
      database.assertComplete("t", 1005);
      assertEquals(sender.publishedFsn(), sender.ackedFsn());
      assertEquals(1005, sender.counters().rowsWritten());
      assertEquals(sender.publishedFsn() + 1, sender.counters().framesAcked());
      assertEquals(0, sender.oldestUnackedMillis());
    }
    assertEquals(1005, database.all("t").size(), "nothing twice without trouble");
  }

  @Test
  void closePublishesAndWaits() throws Exception {
    Database database = new Database();
    try (ScriptServer server = new ScriptServer(database.acceptAll())) {
      Sender sender = Senders.open(server, "");
      Senders.writeRow(sender, "a", 0);
      Senders.writeRow(sender, "b", 0);
      sender.close();
      sender.close();
      database.assertComplete("a", 1);
      database.assertComplete("b", 1);
    }
  }

  @Test
  void drainSaysWhenItTookTooLong() throws Exception {
    try (ScriptServer server = new ScriptServer((session, sequence, message) -> {});
        Sender sender = Senders.open(server, "close_flush_timeout_millis=0;")) {
      Senders.publish(sender, "t", 0, 1);
      assertFalse(sender.drain(50));
    }
  }
}
