package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;

/** A table is suspended and resumed under a live connection: rows are acknowledged all the time. */
@Timeout(60)
class TableSuspendedTest extends WithTestServer {
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final SuspendedTables known = new SuspendedTables(told::add);

  /** A sender and the check of its connection. */
  private record Lane(Sender sender, TableCheck check) implements AutoCloseable {
    @Override
    public void close() {
      sender.close();
    }
  }

  private Lane open(TableWatch watch) throws Exception {
    String address = "127.0.0.1:" + server.port();
    SenderConfig config = SenderConfig.parse("ws::addr=" + address);
    TableCheck check = new TableCheck(new SqlOverHttp(config.connectSettings()), known, watch);
    check.require(
        TableSpec.builder(table)
            .column(Database.NUMBER, QwpType.LONG)
            .column(Senders.SYMBOL, QwpType.SYMBOL)
            .designated("ts", QwpType.TIMESTAMP)
            .onMissing(OnMissingTable.CREATE)
            .build());
    return new Lane(Senders.builder(address, "").gate(check).build(), check);
  }

  /** As after a pause: looks before each frame. */
  private static TableWatch attentive() {
    return new TableWatch(0, 0, 0);
  }

  /** Rows of one frame, until they are acknowledged. */
  private void publish(Lane lane, long from) throws Exception {
    lane.sender.awaitAcked(Senders.publish(lane.sender, table, from, from + 10));
  }

  /** When all is applied: rows that are being applied make the server forget it again. */
  private void suspend() throws Exception {
    String waits =
        "SELECT 1 FROM wal_tables() WHERE name='" + table + "' AND writerTxn<sequencerTxn";
    assertTrueEventually(() -> server.query(waits).isEmpty(), "all is applied");
    server.sql("ALTER TABLE " + table + " SUSPEND WAL");
  }

  private void resume() {
    server.sql("ALTER TABLE " + table + " RESUME WAL");
  }

  /** Frames without a pause until these tables are seen to be suspended; the next free number. */
  private long flow(Lane lane, long from, Set<String> suspended) throws Exception {
    long next = from;
    long end = System.nanoTime() + 20_000_000_000L;
    while (!lane.check.suspendedTables().equals(suspended)) {
      assertTrue(System.nanoTime() < end, "not seen: " + suspended);
      publish(lane, next);
      next += 10;
    }
    return next;
  }

  private Set<String> named() {
    return Set.of(table.toLowerCase(Locale.ROOT));
  }

  private void assertTold(int changes) {
    assertEquals(changes, told.size(), told::toString);
    for (int i = 0; i < changes; i++) {
      String what = i % 2 == 0 ? "is suspended" : "no longer suspended";
      assertTrue(told.get(i).contains("'" + table + "'"), told.get(i));
      assertTrue(told.get(i).contains(what), told.get(i));
    }
  }

  @Test
  void itIsSeenComeAndGoOnOneConnection() throws Exception {
    try (Lane lane = open(attentive())) {
      publish(lane, 0);
      assertEquals(Set.of(), lane.check.suspendedTables());
      server.awaitRows(table, 10);
      for (int round = 0; round < 2; round++) {
        suspend();
        publish(lane, 10);
        publish(lane, 20);
        assertEquals(named(), lane.check.suspendedTables());
        assertTold(2 * round + 1);
        resume();
        publish(lane, 30);
        assertEquals(Set.of(), lane.check.suspendedTables());
        assertTold(2 * round + 2);
      }
      server.awaitRows(table, 70);
      assertEquals(0, lane.sender.counters().reconnectAttempts());
    }
  }

  /** The watch of production: frames follow each other without a pause. */
  @Test
  void itIsSeenWithinSecondsAlsoWhenFramesNeverPause() throws Exception {
    try (Lane lane = open(new TableWatch())) {
      publish(lane, 0);
      suspend();
      long next = flow(lane, 10, named());
      resume();
      flow(lane, next, Set.of());
      assertTold(2);
      assertEquals(0, lane.sender.counters().reconnectAttempts());
    }
  }

  /** What one sees holds for all that share it, and each change is told once. */
  @Test
  void sendersKnowItFromEachOther() throws Exception {
    try (Lane busy = open(attentive());
        Lane idle = open(attentive())) {
      publish(busy, 0);
      publish(idle, 10);
      suspend();
      publish(busy, 20);
      assertEquals(named(), idle.check.suspendedTables());
      publish(idle, 30);
      assertEquals(named(), busy.check.suspendedTables());
      assertTold(1);
      resume();
      publish(idle, 40);
      assertEquals(Set.of(), busy.check.suspendedTables());
      publish(busy, 50);
      assertTold(2);
    }
    server.awaitRows(table, 60);
  }

  @Test
  void aNewConnectionKnowsItFromItsFirstCheck() throws Exception {
    try (Lane lane = open(attentive())) {
      publish(lane, 0);
    }
    suspend();
    try (Lane lane = open(attentive())) {
      publish(lane, 10);
      assertEquals(named(), lane.check.suspendedTables());
      assertTold(1);
    }
    resume();
  }

  /** The answer to a question that was asked before the last change may be older than that. */
  @Test
  void anAnswerThatComesLateIsNoChange() {
    Endpoint endpoint = new Endpoint("127.0.0.1", 1);
    long asked = System.nanoTime();
    known.heard(endpoint, table, true, asked);
    known.heard(endpoint, table, false, asked);
    assertEquals(named(), known.among(named(), endpoint));
    known.heard(endpoint, table, false, System.nanoTime());
    assertEquals(Set.of(), known.among(named(), endpoint));
    known.heard(endpoint, table, true, asked);
    assertTold(2);
  }
}
