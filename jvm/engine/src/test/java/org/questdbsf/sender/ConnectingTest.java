package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Getting a connection, and doing without. */
@Timeout(30)
class ConnectingTest {
  private static Recorder accepting() {
    return Recorder.accepting();
  }

  /** An address where nobody listens. */
  private static String nobody() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "127.0.0.1:" + socket.getLocalPort();
    }
  }

  @Test
  void offFailsAfterOneRoundOverAllHosts() throws Exception {
    Recorder refusing = accepting();
    refusing.upgrades = connection -> Upgrade.refuse(503);
    try (ScriptServer server = new ScriptServer(refusing)) {
      SenderBuilder builder =
          Senders.builder(nobody() + "," + server.address(), "initial_connect_retry=off;");
      SfException thrown = assertThrows(SfException.class, builder::build);
      assertEquals(ErrorCode.CONNECT_FAILED, thrown.code());
      assertTrue(thrown.getMessage().contains("503"), thrown.getMessage());
      assertEquals(1, server.connections());
    }
  }

  @Test
  void onWaitsForTheServer() throws Exception {
    Recorder script = accepting();
    script.upgrades = connection -> connection < 3 ? Upgrade.refuse(503) : Upgrade.accept();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "initial_connect_retry=on;")) {
      assertEquals(4, server.connections());
      assertEquals(3, sender.counters().reconnectAttempts(), "the first one is none");
      assertEquals(SenderState.Kind.OK, sender.state().kind());
      assertEquals(0, sender.counters().reconnectsSucceeded());
    }
  }

  @Test
  void onEndsWithItsBudget() throws Exception {
    SenderBuilder builder =
        Senders.builder(nobody(), "initial_connect_retry=on;reconnect_max_duration_millis=200;");
    SfException thrown = assertThrows(SfException.class, builder::build);
    assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, thrown.code());
    assertFalse(thrown.getMessage().contains("PROTOCOL_VIOLATION"), thrown.getMessage());
  }

  @Test
  void asyncTakesRowsBeforeThereIsAServer() throws Exception {
    String address = nobody();
    try (Sender sender = Senders.builder(address, "").build()) {
      Senders.publish(sender, "t", 0, 5);
      assertTrueEventually(
          () ->
              sender.state().kind() == SenderState.Kind.RECONNECTING
                  && sender.state().attempts() > 1,
          "reconnecting");
      assertEquals(address, sender.state().host());
      Recorder script = accepting();
      int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
      try (ScriptServer server = new ScriptServer(port, script)) {
        sender.awaitAcked(0);
        script.database.assertComplete("t", 5);
        assertTrue(sender.oldestUnackedMillis() == 0);
      }
    }
  }

  @Test
  void theBudgetIsOfOneOutage() throws Exception {
    Recorder script = accepting();
    SenderError error;
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = Senders.open(server, "reconnect_max_duration_millis=300;");
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      server.close();
      SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(1));
      assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, thrown.code());
      error = sender.terminalError().orElseThrow();
      assertEquals(Category.OUTAGE, error.category());
      sender.close();
    }
  }

  @Test
  void theSinkHasNoBudget() throws Exception {
    SenderConfig config =
        SenderConfig.of(
            ConnectString.parse("ws::addr=" + nobody() + ";reconnect_initial_backoff_millis=1;"),
            ConfigPreset.SINK);
    assertEquals(0, config.reconnectMaxDurationMillis());
    assertEquals(PolicyDefaults.SINK, Sender.builder(config).policies);
  }

  @Test
  void aRefusedCredentialEndsThePlainSenderAtOnce() throws Exception {
    for (int status : new int[] {401, 403}) {
      Recorder script = accepting();
      script.upgrades = connection -> Upgrade.refuse(status);
      try (ScriptServer server = new ScriptServer(script)) {
        Sender sender = Senders.open(server, "");
        assertEquals(
            ErrorCode.AUTH_FAILED,
            assertThrows(SfException.class, () -> sender.awaitAcked(0)).code());
        assertEquals(Category.SECURITY_ERROR, sender.terminalError().orElseThrow().category());
        assertEquals(1, server.connections());
        sender.close();
      }
    }
  }

  @Test
  void theSinkAsksForThreeRounds() throws Exception {
    Recorder script = accepting();
    script.upgrades = connection -> Upgrade.refuse(401);
    try (ScriptServer first = new ScriptServer(script);
        ScriptServer second = new ScriptServer(script)) {
      Sender sender =
          Senders.builder(first.address() + "," + second.address(), "")
              .policies(PolicyDefaults.SINK)
              .errorHandler(error -> {})
              .build();
      assertEquals(
          ErrorCode.AUTH_FAILED,
          assertThrows(SfException.class, () -> sender.awaitAcked(0)).code());
      assertEquals(3, first.connections());
      assertEquals(3, second.connections());
      sender.close();
    }
  }

  @Test
  void theSinkGoesOnWhileOneHostSaysSomethingElse() throws Exception {
    Recorder refusing = accepting();
    refusing.upgrades = connection -> Upgrade.refuse(401);
    Recorder late = accepting();
    late.upgrades = connection -> connection < 6 ? Upgrade.refuse(503) : Upgrade.accept();
    try (ScriptServer first = new ScriptServer(refusing);
        ScriptServer second = new ScriptServer(late);
        Sender sender =
            Senders.builder(first.address() + "," + second.address(), "")
                .policies(PolicyDefaults.SINK)
                .build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
    }
  }

  @Test
  void replicasAreLeftForThePrimary() throws Exception {
    Recorder replica = accepting();
    replica.upgrades = connection -> Upgrade.refuse(421, "X-QuestDB-Role", "REPLICA");
    Recorder primary = accepting();
    try (ScriptServer first = new ScriptServer(replica);
        ScriptServer second = new ScriptServer(primary);
        Sender sender =
            Senders.builder(first.address() + "," + second.address(), "initial_connect_retry=off;")
                .build()) {
      for (int n = 0; n < 3; n++) {
        Senders.publish(sender, "t", n, n + 1);
        sender.awaitAcked(n);
        server(second);
      }
      primary.database.assertComplete("t", 3);
      assertEquals(1, first.connections(), "the healthy one is asked first from then on");
    }
  }

  private static void server(ScriptServer server) throws InterruptedException {
    server.run(() -> server.open.forEach(Session::reset));
  }

  @Test
  void anotherHostTakesOver() throws Exception {
    Recorder one = accepting();
    Recorder two = accepting();
    try (ScriptServer second = new ScriptServer(two)) {
      ScriptServer first = new ScriptServer(one);
      try (Sender sender = Senders.builder(first.address() + "," + second.address(), "").build()) {
        Senders.publish(sender, "t", 0, 1);
        sender.awaitAcked(0);
        first.close();
        Senders.publish(sender, "t", 1, 2);
        sender.awaitAcked(1);
        assertEquals(List.of(1L), two.database.all("t"));
        assertEquals(1, sender.counters().reconnectsSucceeded());
      }
    }
  }

  @Test
  void reconnectsArePacedAlsoWhenEachUpgradeSucceeds() throws Exception {
    Recorder script = new Recorder((session, sequence, n, message) -> session.closeWith(1000, ""));
    try (ScriptServer server = new ScriptServer(script)) {
      SenderBuilder builder = Senders.builder(server.address(), "");
      builder.pacer = new ReconnectPacer(ReconnectPacer.MOST_A_SECOND);
      try (Sender sender = builder.build()) {
        Senders.publish(sender, "t", 0, 1);
        assertTrueEventually(() -> server.connections() > 30, "enough to measure");
        Long[] at = server.upgradeNanos.toArray(new Long[0]);
        for (int i = 0; i + 20 < at.length; i++) {
          // The server's clock sees the connections a little later than they were allowed.
          assertTrue(at[i + 20] - at[i] > 900_000_000L, "21 connections in a second");
        }
        sender.discard();
      }
    }
  }

  @Test
  void theGateIsAskedBeforeAnythingIsShipped() throws Exception {
    Recorder script = accepting();
    long[] version = new long[1];
    List<String> log = new CopyOnWriteArrayList<>();
    boolean[] open = {false};
    ConnectionGate gate =
        new ConnectionGate() {
          @Override
          public synchronized void admit(Endpoint endpoint) throws GateClosed {
            log.add("admit after " + script.all());
            if (!open[0]) {
              open[0] = true;
              throw new GateClosed(
                  false, new SfException(ErrorCode.CONNECT_FAILED, "/exec is not up yet"));
            }
          }

          @Override
          public Look admitMore(Endpoint endpoint) {
            log.add("more after " + script.all());
            return Look.SAME;
          }

          @Override
          public synchronized long version() {
            return version[0];
          }
        };
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.builder(server.address(), "").gate(gate).build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      synchronized (gate) {
        version[0]++;
      }
      Senders.publish(sender, "u", 1, 2);
      sender.awaitAcked(1);
      assertEquals(List.of("admit after []", "admit after []", "more after [0]"), log);
    }
  }

  @Test
  void aGateThatWillNotOpenEndsTheSender() throws Exception {
    Recorder script = accepting();
    ConnectionGate gate =
        new ConnectionGate() {
          @Override
          public void admit(Endpoint endpoint) throws GateClosed {
            throw new GateClosed(
                true, new SfException(ErrorCode.TABLE_MISMATCH, "table t has no keys"));
          }

          @Override
          public long version() {
            return 0;
          }
        };
    try (ScriptServer server = new ScriptServer(script)) {
      Sender sender = Senders.builder(server.address(), "").gate(gate).build();
      SfException thrown = assertThrows(SfException.class, () -> sender.awaitAcked(0));
      assertEquals(ErrorCode.TABLE_MISMATCH, thrown.code());
      assertTrue(thrown.getMessage().contains("has no keys"), thrown.getMessage());
      assertTrue(script.all().isEmpty());
      sender.close();
    }
  }

  @Test
  void aServerThatSaysNothingIsPingedAndThenLeft() throws Exception {
    Recorder silent = new Recorder((session, sequence, n, message) -> {});
    silent.pong = false;
    Recorder alive = accepting();
    try (ScriptServer first = new ScriptServer(silent);
        ScriptServer second = new ScriptServer(alive);
        Sender sender =
            Senders.builder(first.address() + "," + second.address(), "ack_timeout_millis=2500;")
                .build()) {
      Senders.publish(sender, "t", 0, 1);
      sender.awaitAcked(0);
      alive.database.assertComplete("t", 1);
      assertTrue(silent.pings.size() == 1 || silent.pings.size() == 2, silent.pings.toString());
      assertFalse(silent.all().isEmpty());
    }
  }

  @Test
  void acknowledgementsHeldBackComeWithThePing() throws Exception {
    ScriptServer[] holder = new ScriptServer[1];
    Recorder lazy = new Recorder((session, sequence, n, message) -> {});
    lazy.onPing = () -> holder[0].open.forEach(s -> s.ok(s.received() - 1));
    try (ScriptServer server = new ScriptServer(lazy);
        Sender sender = Senders.open(server, "")) {
      holder[0] = server;
      for (int n = 0; n < 3; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(2);
      assertEquals(1, lazy.connections.size());
      assertTrue(sender.counters().ackLatencyMaxMillis() >= 900, "latency is counted");
    }
  }
}
