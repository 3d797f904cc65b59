package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.TableTxn;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Durable acknowledgements. */
@Timeout(30)
class DurableTest {
  private static final String DURABLE =
      "request_durable_ack=on;durable_ack_keepalive_interval_millis=10;"
          + "close_flush_timeout_millis=0;";

  private static Recorder granting(Recorder script) {
    script.upgrades = connection -> Upgrade.accept("X-QWP-Durable-Ack", "enabled");
    return script;
  }

  @Test
  void onlyDurableAcksMoveTheWatermark() throws Exception {
    Session[] last = new Session[1];
    Recorder script =
        granting(
            new Recorder(
                (session, sequence, n, message) -> {
                  session.okNaming(sequence, new TableTxn("t", n + 1));
                  last[0] = session;
                }));
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, DURABLE)) {
      for (int n = 0; n < 4; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      Database.assertTrueEventually(() -> script.pings.size() >= 2, "keepalive while pending");
      assertEquals(-1, sender.ackedFsn());
      server.run(() -> last[0].durable(new TableTxn("t", 3), new TableTxn("other", 99)));
      sender.awaitAcked(2);
      assertEquals(2, sender.ackedFsn());
      server.run(() -> last[0].durable(new TableTxn("t", 1)));
      server.run(() -> last[0].durable(new TableTxn("t", 4)));
      sender.awaitAcked(3);
    }
  }

  @Test
  void withoutPendingConfirmationsThereIsNoPing() throws Exception {
    Recorder script =
        granting(
            new Recorder(
                (session, sequence, n, message) -> {
                  session.okNaming(sequence); // no table: durable as it is
                }));
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, DURABLE)) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      Thread.sleep(100);
      assertEquals(0, script.pings.size());
    }
  }

  @Test
  void theSuspectWaitsForAllBelowToBeDurable() throws Exception {
    List<String> log = new CopyOnWriteArrayList<>();
    Recorder[] self = new Recorder[1];
    self[0] =
        granting(
            new Recorder(
                (session, sequence, n, message) -> {
                  if (n == 2) {
                    log.add("suspect");
                    session.nack(0x09, sequence, "no");
                    return;
                  }
                  session.okNaming(sequence, new TableTxn("t", n + 1));
                  if (self[0].connection() > 0) {
                    session.later(
                        30,
                        () -> {
                          log.add("durable " + n);
                          session.durable(new TableTxn("t", n + 1));
                        });
                  }
                }));
    List<Long> buried = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender =
            Senders.builder(server.address(), DURABLE + "on_write_error=drop;")
                .errorHandler(error -> {})
                .deadLetters(
                    (slot, fsn, frame, error) -> {
                      buried.add(fsn);
                      return "there";
                    })
                .build()) {
      for (int n = 0; n < 4; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(3);
      assertEquals(List.of(2L), buried);
      int second = log.lastIndexOf("suspect");
      assertTrue(log.indexOf("durable 1") < second && log.contains("durable 1"), log.toString());
    }
  }

  @Test
  void confirmationsOfAnOldConnectionSayNothingOnTheNext() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        granting(
            new Recorder(
                (session, sequence, n, message) -> {
                  session.okNaming(sequence, new TableTxn("t", 10));
                  if (self[0].connection() == 0) {
                    session.reset();
                  }
                }));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.open(server, DURABLE)) {
      Senders.publish(sender, "t", 0, 1);
      Database.assertTrueEventually(() -> self[0].connection() == 1, "second connection");
      Database.assertTrueEventually(() -> self[0].all().size() == 2, "sent again");
      assertEquals(-1, sender.ackedFsn());
      server.run(() -> server.open.get(0).durable(new TableTxn("t", 10)));
      sender.awaitAcked(0);
    }
  }

  @Test
  void endsWhenNoHostGrantsThem() throws Exception {
    Recorder plain = new Recorder((session, sequence, n, message) -> {});
    try (ScriptServer first = new ScriptServer(plain);
        ScriptServer second = new ScriptServer(plain)) {
      Sender sender =
          Senders.builder(first.address() + "," + second.address(), DURABLE)
              .errorHandler(error -> {})
              .build();
      assertEquals(
          ErrorCode.DURABLE_ACK_UNAVAILABLE,
          assertThrows(SfException.class, () -> sender.awaitAcked(0)).code());
      assertEquals(1, second.connections(), "every host was asked");
      sender.close();
    }
  }

  @Test
  void oneHostThatGrantsThemIsEnough() throws Exception {
    Recorder plain = new Recorder((session, sequence, n, message) -> {});
    Recorder[] self = new Recorder[1];
    self[0] =
        granting(
            new Recorder(
                (session, sequence, n, message) -> {
                  self[0].accept(session, sequence, message);
                  session.durable(new TableTxn("t", n + 1));
                }));
    try (ScriptServer first = new ScriptServer(plain);
        ScriptServer second = new ScriptServer(self[0]);
        Sender sender =
            Senders.builder(first.address() + "," + second.address(), DURABLE).build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
    }
  }
}
