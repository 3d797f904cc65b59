package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;

/**
 * Tables that were not there when they were checked, and are left to the server to make. Where one
 * is dropped and made again by others, who write more to it than the old one had, only the identity
 * of the table tells that a server has thrown a frame away.
 */
@Timeout(150)
class ServersTablesTest extends WithTestServer {
  private static final int OTHERS = 20;

  /** Looks at tables where an OK is doubtful only. */
  private static TableWatch blind() {
    return new TableWatch(Long.MAX_VALUE, Long.MAX_VALUE, 0);
  }

  private static TableSpec leftToServer(String name) {
    List<TableSpec.Column> columns =
        TableSpec.builder(name)
            .column(Database.NUMBER, QwpType.LONG)
            .column(Senders.SYMBOL, QwpType.SYMBOL)
            .build()
            .columns();
    return TableSpec.leftToServer(name, columns, QwpType.TIMESTAMP);
  }

  private Sender open(String... tables) throws Exception {
    String address = "127.0.0.1:" + server.port();
    SenderConfig config = SenderConfig.parse("ws::addr=" + address);
    SqlOverHttp sql = new SqlOverHttp(config.connectSettings());
    TableCheck check = new TableCheck(sql, new SuspendedTables(), blind());
    for (String name : tables) {
      check.require(leftToServer(name));
    }
    return Senders.builder(address, "").gate(check).policies(PolicyDefaults.SINK).build();
  }

  private void create() {
    server.sql(
        "CREATE TABLE "
            + table
            + " (n LONG, s SYMBOL, timestamp TIMESTAMP) TIMESTAMP(timestamp) PARTITION BY DAY WAL");
  }

  private void isReplacedByOneWithMoreTransactions() {
    server.sql("DROP TABLE " + table);
    create();
    for (int n = 0; n < OTHERS; n++) {
      server.sql("INSERT INTO " + table + " (n, timestamp) VALUES (" + (1000 + n) + ", " + n + ")");
    }
  }

  private void assertNothingIsLost(Sender sender) throws Exception {
    isReplacedByOneWithMoreTransactions();
    // One acknowledgement for all: the first frame is lost, the others make up the number.
    server.script().holdAcks(true);
    for (int n = 100; n < 104; n++) {
      Senders.publish(sender, table, n, n + 1);
    }
    server.awaitRows(table, OTHERS + 3);
    server.script().reset();
    sender.awaitAcked(sender.publishedFsn());
    server.awaitRows(table, OTHERS + 4);
    List<Object[]> rows = server.query("SELECT DISTINCT n FROM " + table + " ORDER BY n");
    List<Long> expected =
        LongStream.concat(LongStream.range(100, 104), LongStream.range(1000, 1000 + OTHERS))
            .boxed()
            .toList();
    assertEquals(expected, rows.stream().map(row -> (Long) row[0]).toList());
  }

  @Test
  void aTableThatTheServerMadeIsKnownFromItsFirstRowsOn() throws Exception {
    try (Sender sender = open(table)) {
      sender.awaitAcked(Senders.publish(sender, table, 0, 1));
      assertNothingIsLost(sender);
    }
  }

  @Test
  void oneThatIsNotThereHidesNothingOfOthers() throws Exception {
    create();
    try (Sender sender = open(table, table + "_other")) {
      sender.awaitAcked(Senders.publish(sender, table, 0, 1));
      assertNothingIsLost(sender);
    }
  }

  @Test
  void oneThatIsDroppedAndMadeByTheServerAgainIsKnownToo() throws Exception {
    create();
    try (Sender sender = open(table)) {
      sender.awaitAcked(Senders.publish(sender, table, 0, 1));
      server.sql("DROP TABLE " + table);
      sender.awaitAcked(Senders.publish(sender, table, 1, 2));
      sender.awaitAcked(Senders.publish(sender, table, 2, 3));
      assertNothingIsLost(sender);
    }
  }
}
