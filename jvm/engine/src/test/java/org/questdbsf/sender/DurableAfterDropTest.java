package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With durable acknowledgements, what was durable in a dropped table says nothing of the next. */
@Timeout(60)
class DurableAfterDropTest extends WithTestServer {
  private static final int ROWS = 5;

  @Test
  void rowsOfTheNewTableAreNotReleasedByTheOldOne() throws Exception {
    server.script().grantDurableAcks(true);
    String address = "127.0.0.1:" + server.port();
    try (Sender sender =
        Senders.builder(address, "request_durable_ack=on;close_flush_timeout_millis=0;").build()) {
      for (int n = 0; n < ROWS; n++) {
        Senders.writeRow(sender, table, n);
        sender.flush();
        assertTrue(sender.drain(20_000), "durable");
      }
      server.sql("DROP TABLE " + table);
      server.script().holdDurableAcks(true);
      Senders.writeRow(sender, table, ROWS);
      sender.flush();
      assertFalse(sender.drain(3000), "released though not durable");
      assertEquals(ROWS - 1, sender.ackedFsn());
      server.script().holdDurableAcks(false);
      assertTrue(sender.drain(20_000), "durable after all");
      server.awaitRows(table, 1);
    }
  }
}
