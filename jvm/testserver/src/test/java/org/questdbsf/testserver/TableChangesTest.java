package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tables that change while connections have written to them. Rows are acknowledged and lost here
 * where the real server loses them; all expectations were seen on it.
 */
@Timeout(60)
class TableChangesTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** A connection that has written value 1 to the table, which is visible. */
  private static RawClient writerOf(String table) throws IOException {
    RawClient client = RawClient.open(server.port());
    client.message(Messages.row(table, 1));
    assertOk(client, 0, Map.of(table, 1L));
    server.awaitRows(table, 1);
    return client;
  }

  private static void assertOk(RawClient client, long sequence, Map<String, Long> tables)
      throws IOException {
    RawClient.Frame ok = client.read();
    assertEquals(0, ok.status(), () -> ok.text());
    assertEquals(sequence, ok.sequence());
    assertEquals(tables, ok.tables());
  }

  private static List<Object> values(String column, String table, long rows) {
    server.awaitRows(table, rows);
    return server.query("SELECT " + column + " FROM " + table + " ORDER BY timestamp").stream()
        .map(row -> row[0])
        .toList();
  }

  @Test
  void theFirstMessageAfterADropIsAcknowledgedAndLost() throws IOException {
    try (RawClient client = writerOf("dropped")) {
      server.sql("DROP TABLE dropped");
      client.message(Messages.row("dropped", 2));
      assertOk(client, 1, Map.of());
      client.message(Messages.row("dropped", 3));
      assertOk(client, 2, Map.of("dropped", 1L));
      assertEquals(List.of(3L), values("v", "dropped", 1));
    }
  }

  @Test
  void theFirstMessageIsLostIntoATableThatWasMadeAnewToo() throws IOException {
    try (RawClient client = writerOf("remade")) {
      server.sql("DROP TABLE remade");
      server.sql(
          "CREATE TABLE remade (v LONG, timestamp TIMESTAMP) TIMESTAMP(timestamp)"
              + " PARTITION BY DAY WAL");
      client.message(Messages.row("remade", 2));
      assertOk(client, 1, Map.of());
      client.message(Messages.row("remade", 3));
      assertOk(client, 2, Map.of("remade", 1L));
      assertEquals(List.of(3L), values("v", "remade", 1));
    }
  }

  @Test
  void inAPipelineOnlyTheNumberTellsOfTheLostMessage() throws IOException {
    try (RawClient client = writerOf("piped")) {
      server.sql("DROP TABLE piped");
      client.messages(
          Messages.row("piped", 100),
          Messages.row("piped", 101),
          Messages.row("piped", 102),
          Messages.row("piped", 103),
          Messages.row("piped", 104));
      assertOk(client, 5, Map.of("piped", 4L));
      assertEquals(List.of(101L, 102L, 103L, 104L), values("v", "piped", 4));
    }
  }

  @Test
  void everyConnectionLosesItsFirstMessage() throws IOException {
    try (RawClient one = writerOf("shared");
        RawClient two = RawClient.open(server.port())) {
      two.message(Messages.row("shared", 2));
      assertOk(two, 0, Map.of("shared", 2L));
      server.sql("DROP TABLE shared");
      one.message(Messages.row("shared", 3));
      assertOk(one, 1, Map.of());
      one.message(Messages.row("shared", 4));
      assertOk(one, 2, Map.of("shared", 1L));
      two.message(Messages.row("shared", 5));
      assertOk(two, 1, Map.of());
      two.message(Messages.row("shared", 6));
      assertOk(two, 2, Map.of("shared", 2L));
      assertEquals(List.of(4L, 6L), values("v", "shared", 2));
    }
  }

  @Test
  void aDeferredGroupIsLostWithItsTable() throws IOException {
    try (RawClient client = writerOf("group_dropped")) {
      client.message(Messages.deferred(Messages.row("group_dropped", 2)));
      client.message(Messages.deferred(Messages.row("group_dropped", 3)));
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode());
      server.sql("DROP TABLE group_dropped");
      client.message(Messages.commit());
      assertOk(client, 3, Map.of());
      client.message(Messages.row("group_dropped", 4));
      assertOk(client, 4, Map.of("group_dropped", 1L));
      assertEquals(List.of(4L), values("v", "group_dropped", 1));
    }
  }

  @Test
  void aNewColumnShowsThatTheTableIsGone() throws IOException {
    try (RawClient client = writerOf("gone_column")) {
      server.sql("DROP TABLE gone_column");
      client.message(Messages.row("gone_column", "w", 2));
      RawClient.Frame error = client.read();
      assertEquals(RefusedException.WRITE_ERROR, error.status());
      assertTrue(error.text().startsWith("table is dropped [dirName=gone_column~"), error::text);
    }
  }

  @Test
  void aRenamedTableIsRefusedUntilTheConnectionIsReplaced() throws IOException {
    try (RawClient client = writerOf("renamed")) {
      server.sql("RENAME TABLE renamed TO renamed_away");
      client.message(Messages.row("renamed", 2));
      RawClient.Frame error = client.read();
      assertEquals(RefusedException.INTERNAL_ERROR, error.status());
      assertEquals(
          "commit error: cached query plan cannot be used because table schema has changed"
              + " [table=renamed]",
          error.text());
    }
    try (RawClient client = RawClient.open(server.port())) {
      client.message(Messages.row("renamed", 3));
      assertOk(client, 0, Map.of("renamed", 1L));
    }
    assertEquals(List.of(3L), values("v", "renamed", 1));
    assertEquals(List.of(1L), values("v", "renamed_away", 1));
  }

  /** What a refused message had committed before is told with the OK of the messages before it. */
  @Test
  void aCommitMayFailHalfway() throws IOException {
    try (RawClient client = writerOf("half_one")) {
      client.message(Messages.row("half_two", 1));
      assertOk(client, 1, Map.of("half_two", 1L));
      server.sql("RENAME TABLE half_two TO half_away");
      client.messages(
          Messages.row("half_one", 2),
          Messages.row(List.of("half_one", "half_two"), 3),
          Messages.row("half_one", 4));
      assertOk(client, 2, Map.of("half_one", 3L));
      RawClient.Frame error = client.read();
      assertEquals(RefusedException.INTERNAL_ERROR, error.status());
      assertEquals(3, error.sequence());
      assertEquals(List.of(1L, 2L, 3L), values("v", "half_one", 3));
    }
  }

  @Test
  void aDroppedColumnTakesTheFirstValueWithIt() throws IOException {
    try (RawClient client = writerOf("drop_column")) {
      server.sql("ALTER TABLE drop_column DROP COLUMN v");
      client.message(Messages.row("drop_column", 2));
      assertOk(client, 1, Map.of("drop_column", 3L));
      client.message(Messages.row("drop_column", 3));
      assertOk(client, 2, Map.of("drop_column", 5L));
      assertArrayEquals(new Object[] {null, null, 3L}, values("v", "drop_column", 3).toArray());
    }
  }

  @Test
  void aRenamedColumnGetsTheFirstValue() throws IOException {
    try (RawClient client = writerOf("rename_column")) {
      server.sql("ALTER TABLE rename_column RENAME COLUMN v TO z");
      client.message(Messages.row("rename_column", 2));
      assertOk(client, 1, Map.of("rename_column", 3L));
      client.message(Messages.row("rename_column", 3));
      assertOk(client, 2, Map.of("rename_column", 5L));
      assertArrayEquals(new Object[] {1L, 2L, null}, values("z", "rename_column", 3).toArray());
      assertArrayEquals(new Object[] {null, null, 3L}, values("v", "rename_column", 3).toArray());
    }
  }
}
