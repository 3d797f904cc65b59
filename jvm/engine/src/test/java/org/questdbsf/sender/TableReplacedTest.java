package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.testserver.CutRule;

/** A table is dropped under a live connection. The server makes it anew for the next frame. */
@Timeout(60)
class TableReplacedTest extends WithTestServer {
  private static final long NEVER = Long.MAX_VALUE;

  @TempDir Path dir;
  private final List<SenderError> told = new CopyOnWriteArrayList<>();

  private TableSpec.Builder spec() {
    return TableSpec.builder(table)
        .column(Database.NUMBER, QwpType.LONG)
        .column(Senders.SYMBOL, QwpType.SYMBOL)
        .designated("ts", QwpType.TIMESTAMP);
  }

  private TableSpec keyed() {
    return spec().dedupKeys(List.of(Database.NUMBER)).onMissing(OnMissingTable.CREATE).build();
  }

  /** With a watch that never looks by itself: only acknowledgements can give a drop away. */
  private static TableWatch blind() {
    return new TableWatch(NEVER, NEVER, 0);
  }

  /** As after a pause: looks before each frame. */
  private static TableWatch attentive() {
    return new TableWatch(0, 0, 0);
  }

  private Sender open(TableSpec spec, TableWatch watch, String keys) throws Exception {
    SenderBuilder builder = Senders.builder("127.0.0.1:" + server.port(), keys);
    SenderConfig config = SenderConfig.parse("ws::addr=127.0.0.1:" + server.port());
    TableCheck check =
        new TableCheck(new SqlOverHttp(config.connectSettings()), new SuspendedTables(), watch);
    check.require(spec);
    return builder.gate(check).policies(PolicyDefaults.SINK).errorHandler(told::add).build();
  }

  private String storage(boolean store) {
    return store ? "sf_dir=" + dir + ";sf_min_free_bytes=0;" : "";
  }

  /** Frames of ten rows, until they are acknowledged; more than a new table's structure counts. */
  private void publish(Sender sender, int from, int to) throws Exception {
    for (int frame = from; frame < to; frame++) {
      sender.awaitAcked(Senders.publish(sender, table, frame * 10L, frame * 10L + 10));
    }
  }

  private void drop() {
    server.sql("DROP TABLE " + table);
  }

  private void assertRows(int from, int to) {
    server.awaitRows(table, to - from);
    List<Object[]> rows = server.query("SELECT n, count() FROM " + table + " ORDER BY n");
    assertEquals(to - from, rows.size());
    rows.forEach(row -> assertEquals(1L, row[1], "row " + row[0]));
    assertEquals((long) from, rows.get(0)[0]);
  }

  private Set<Object> keys() {
    return server
        .query("SELECT \"column\" FROM table_columns('" + table + "') WHERE upsertKey")
        .stream()
        .map(row -> row[0])
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private ErrorCode ended(Sender sender, String... words) {
    SfException e =
        assertThrows(SfException.class, () -> sender.awaitAcked(sender.publishedFsn() + 1));
    for (String word : words) {
      assertTrue(e.getMessage().contains(word), e.getMessage());
    }
    SenderError told = sender.terminalError().orElseThrow();
    assertEquals(table, told.table());
    assertEquals(Category.TABLE_MISSING, told.category());
    return e.code();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void afterAPauseTheTableIsMadeAsItWasAskedFor(boolean store) throws Exception {
    try (Sender sender = open(keyed(), attentive(), storage(store))) {
      publish(sender, 0, 10);
      drop();
      publish(sender, 10, 20);
      assertRows(100, 200);
      assertEquals(Set.of(Database.NUMBER, "ts"), keys());
      assertEquals(1, sender.counters().reconnectsSucceeded(), "through a new connection");
      assertEquals(0, sender.counters().acksRejected(), "nothing was written to the old one");
    }
  }

  @Test
  void afterAPauseFailSendsNothing() throws Exception {
    server.sql(keyed().createDdl());
    try (Sender sender = open(spec().build(), attentive(), "")) {
      publish(sender, 0, 10);
      drop();
      Senders.publish(sender, table, 100, 110);
      assertEquals(ErrorCode.TABLE_MISSING, ended(sender, "'" + table + "'", "not there"));
      assertEquals(
          List.of(), server.query("SELECT id FROM tables() WHERE table_name='" + table + "'"));
    }
  }

  /**
   * Drops the table under two frames, of which the server loses the first and makes the table anew
   * for the second; nothing is acknowledged.
   */
  private void dropUnderTwoFrames(Sender sender, int frame) throws Exception {
    drop();
    server.script().holdAcks(true);
    Senders.publish(sender, table, frame * 10L, frame * 10L + 10);
    Senders.publish(sender, table, frame * 10L + 10, frame * 10L + 20);
    server.awaitRows(table, 10);
    assertEquals(Set.of(), keys(), "the server has made it anew");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void keysThatWereLostUnderRowsOnTheWayAreEnabledBeforeAnythingIsSentAgain(boolean store)
      throws Exception {
    try (Sender sender = open(keyed(), blind(), storage(store))) {
      publish(sender, 0, 20);
      dropUnderTwoFrames(sender, 20);
      server.script().reset();
      sender.awaitAcked(21);
      assertEquals(Set.of(Database.NUMBER, "timestamp"), keys());
      assertEquals(1, sender.counters().acksRejected());
      assertEquals(1, sender.counters().reconnectsSucceeded());
      assertRows(200, 220);
      assertTrueEventually(() -> told.size() == 2, "the rejection, and the keys");
      assertTrue(told.get(0).message().contains("proves nothing"), told.get(0).message());
      String message = told.get(1).message();
      for (String word : List.of("'" + table + "'", "dropped", "DEDUP ENABLE", "drop it once")) {
        assertTrue(message.contains(word), message);
      }
      assertFalse(sender.terminalError().isPresent());
    }
  }

  /** The connection breaks before any acknowledgement could give the drop away. */
  @Test
  void whatIsSentAgainAfterACutFindsTheKeys() throws Exception {
    try (Sender sender = open(keyed(), blind(), "")) {
      publish(sender, 0, 20);
      dropUnderTwoFrames(sender, 20);
      server.script().drop(new CutRule(0, null, 1, 1));
      Senders.publish(sender, table, 220, 230);
      assertTrueEventually(() -> sender.counters().reconnectsSucceeded() == 1, "reconnected");
      server.script().reset();
      sender.awaitAcked(22);
      assertRows(200, 230);
      assertEquals(Set.of(Database.NUMBER, "timestamp"), keys());
      assertEquals(0, sender.counters().acksRejected());
    }
  }

  /** Another lane of this JVM meets the table without keys before the one that lost it does. */
  @Test
  void aNewLaneKnowsWhatTheOthersHaveSeen() throws Exception {
    try (Sender first = open(keyed(), blind(), "")) {
      publish(first, 0, 20);
      dropUnderTwoFrames(first, 20);
      try (Sender second = open(keyed(), blind(), "")) {
        Senders.publish(second, table, 220, 230);
        server.awaitRows(table, 20);
        assertEquals(Set.of(Database.NUMBER, "timestamp"), keys());
        server.script().reset();
        second.awaitAcked(0);
      }
      first.awaitAcked(21);
    }
    assertRows(200, 230);
  }

  @Test
  void failEndsTheSenderAlsoWhenTheServerWasQuicker() throws Exception {
    server.sql(keyed().createDdl());
    try (Sender sender = open(spec().build(), blind(), "")) {
      publish(sender, 0, 20);
      dropUnderTwoFrames(sender, 20);
      server.script().reset();
      assertEquals(
          ErrorCode.TABLE_MISSING,
          ended(
              sender, "'" + table + "'", "was dropped", "without the dedup keys", "create_table"));
      assertRows(210, 220);
    }
  }

  @Test
  void failEndsTheSenderAlsoWithoutKeys() throws Exception {
    server.sql(spec().onMissing(OnMissingTable.CREATE).build().createDdl());
    try (Sender sender = open(spec().build(), blind(), "")) {
      publish(sender, 0, 20);
      dropUnderTwoFrames(sender, 20);
      server.script().reset();
      assertEquals(ErrorCode.TABLE_MISSING, ended(sender, "was dropped"));
    }
  }

  /** The frame that the server has lost is not made to bring the table back. */
  @Test
  void failEndsTheSenderWhenALostFrameGivesTheDropAway() throws Exception {
    server.sql(keyed().createDdl());
    try (Sender sender = open(spec().build(), blind(), "")) {
      publish(sender, 0, 20);
      drop();
      Senders.publish(sender, table, 200, 210);
      assertEquals(ErrorCode.TABLE_MISSING, ended(sender, "'" + table + "'", "not there"));
      assertEquals(1, sender.counters().acksRejected());
    }
  }

  /** Nothing looks at tables here: the acknowledgement alone tells. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void withoutAGateALostFrameIsSentAgain(boolean createdAgain) throws Exception {
    server.sql(keyed().createDdl());
    SenderBuilder builder = Senders.builder("127.0.0.1:" + server.port(), "");
    try (Sender sender = builder.gate(ConnectionGate.OPEN).build()) {
      publish(sender, 0, 20);
      drop();
      if (createdAgain) {
        server.sql(keyed().createDdl());
      }
      publish(sender, 20, 23);
      assertRows(200, 230);
      assertEquals(1, sender.counters().acksRejected());
    }
  }

  /** No frame was sent to the one or the other: somebody's own business, as at a reconnect. */
  @Test
  void aTableThatSomebodyPutInItsPlaceIsTaken() throws Exception {
    String create = spec().onMissing(OnMissingTable.CREATE).build().createDdl();
    server.sql(create);
    try (Sender sender = open(spec().build(), attentive(), "")) {
      publish(sender, 0, 10);
      drop();
      server.sql(create);
      publish(sender, 10, 20);
    }
    assertRows(100, 200);
  }

  /** A table without keys, or with others, at the first look is somebody's own: not touched. */
  @Test
  void whatWasThereBeforeIsNotAltered() throws Exception {
    server.sql(spec().onMissing(OnMissingTable.CREATE).build().createDdl());
    try (Sender sender = open(keyed(), attentive(), "")) {
      publish(sender, 0, 5);
    }
    assertEquals(Set.of(), keys());
  }

  /** Durable confirmations of a dropped table never come: its rows are for the new one. */
  @Test
  void rowsThatWillNotBeDurableAreSentAgain() throws Exception {
    server.script().grantDurableAcks(true).holdDurableAcks(true);
    String durable = "request_durable_ack=on;durable_ack_keepalive_interval_millis=20;";
    try (Sender sender = open(keyed(), attentive(), durable)) {
      Senders.publish(sender, table, 0, 10);
      server.awaitRows(table, 10);
      drop();
      assertTrueEventually(() -> sender.counters().reconnectsSucceeded() == 1, "sent again");
      server.awaitRows(table, 10);
      server.script().holdDurableAcks(false);
      sender.awaitAcked(0);
      assertEquals(Set.of(Database.NUMBER, "ts"), keys());
    }
  }
}
