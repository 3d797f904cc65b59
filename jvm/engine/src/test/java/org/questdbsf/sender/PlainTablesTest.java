package org.questdbsf.sender;

import static java.time.temporal.ChronoUnit.MICROS;
import static java.time.temporal.ChronoUnit.NANOS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;

/** Plain rows are not sent where a table would change or lose them. */
@Timeout(60)
class PlainTablesTest extends WithTestServer {
  private static final String DESIGNATED = ", ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL";

  @TempDir Path dir;

  private static String here() {
    return "127.0.0.1:" + server.port();
  }

  private static void run(String statement) throws Exception {
    Endpoint endpoint = new Endpoint("127.0.0.1", server.port());
    new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings())
        .query(endpoint, statement);
  }

  private static Sender open() throws InterruptedException {
    return Senders.builder(here(), "close_flush_timeout_millis=0;").build();
  }

  private static SfException refused(Sender sender, String... parts) {
    SfException e = assertThrows(SfException.class, () -> sender.drain(20_000));
    assertEquals(ErrorCode.TABLE_MISMATCH, e.code(), e.getMessage());
    for (String part : parts) {
      assertTrue(e.getMessage().contains(part), e.getMessage());
    }
    return e;
  }

  /** The server makes a table with two columns of that name, which nobody can read. */
  @ParameterizedTest
  @ValueSource(strings = {"timestamp", "Timestamp", "TIMESTAMP"})
  void aColumnWithTheNameOfTheServersTimestampIsNotSent(String name) throws Exception {
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).stringColumn(name, "x").at(1, MICROS);
      refused(sender, "'" + table + "'", "is not there", "'" + name + "'", "Rename");
      assertEquals(0, sender.counters().framesSent());
    }
    run("CREATE TABLE " + table + " (n LONG, \"timestamp\" VARCHAR" + DESIGNATED);
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).stringColumn(name, "x").at(1, MICROS);
      assertTrue(sender.drain(20_000));
    }
    server.awaitRows(table, 1);
  }

  /** It would shift the times of later rows, also of other connections. */
  @Test
  void aColumnWithTheNameOfTheTablesTimestampIsNotSent() throws Exception {
    run("CREATE TABLE " + table + " (n LONG" + DESIGNATED);
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).at(1, MICROS);
      assertTrue(sender.drain(20_000));
      sender.table(table).longColumn("n", 2).timestampColumn("TS", 5, MICROS).at(2, MICROS);
      refused(sender, "'" + table + "'", "'TS' is its designated timestamp");
    }
    server.awaitRows(table, 1);
  }

  private void assertRefused(String column, Consumer<Row> cell, String carried) throws Exception {
    run("CREATE TABLE IF NOT EXISTS " + table + " (x " + column + DESIGNATED);
    try (Sender sender = open()) {
      Row row = sender.table(table);
      cell.accept(row);
      row.at(1, MICROS);
      refused(sender, "column 'x' is " + column + " and the rows carry " + carried);
      assertEquals(0, sender.counters().framesSent());
    } finally {
      run("DROP TABLE " + table);
    }
  }

  @Test
  void whatTheServerWouldChangeIsNotSent() throws Exception {
    assertRefused("DOUBLE", row -> row.longColumn("x", (1L << 53) + 1), "LONG");
    assertRefused("INT", row -> row.longColumn("x", Integer.MIN_VALUE), "LONG");
    assertRefused("FLOAT", row -> row.longColumn("x", 1), "whole numbers");
    assertRefused("FLOAT", row -> row.doubleColumn("x", 1), "DOUBLE");
    assertRefused("CHAR", row -> row.stringColumn("x", "yes"), "VARCHAR");
    assertRefused("LONG", row -> row.stringColumn("x", "1"), "VARCHAR");
    assertRefused("VARCHAR", row -> row.timestampColumn("x", 1, MICROS), "TIMESTAMP");
    assertRefused("TIMESTAMP", row -> row.timestampColumn("x", 1, NANOS), "TIMESTAMP_NS");
    assertRefused("TIMESTAMP", row -> row.dateColumn("x", 1), "DATE");
    assertRefused("INT", row -> row.binaryColumn("x", new byte[] {'5'}), "BINARY");
    assertRefused("INT", row -> row.boolColumn("x", true), "BOOLEAN");
  }

  @Test
  void nanosecondsAreNotCut() throws Exception {
    run("CREATE TABLE " + table + " (n LONG" + DESIGNATED);
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).at(1, NANOS);
      refused(sender, "designated timestamp 'ts' is TIMESTAMP", "send microseconds");
    }
  }

  /** A block that is handed over whole is looked at as rows are; all blocks of a table count. */
  @Test
  void blocksAreCheckedToo() throws Exception {
    run("CREATE TABLE " + table + " (n LONG, x DOUBLE" + DESIGNATED);
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).doubleColumn("x", 1).at(1, MICROS);
      assertTrue(sender.drain(20_000));
      TableBlock block = sender.newBlock(table);
      block.column("x", QwpType.LONG).putLong(1);
      block.designated(QwpType.TIMESTAMP).putLong(1);
      block.endRow();
      sender.publish(block);
      refused(sender, "column 'x' is DOUBLE and the rows carry LONG");
      assertEquals(1, sender.counters().framesSent());
    }
    server.awaitRows(table, 1);
  }

  /** New columns are looked at when they come; those of a cancelled row never were. */
  @Test
  void newColumnsAreCheckedBeforeTheirFrame() throws Exception {
    run("CREATE TABLE " + table + " (n LONG, x DOUBLE" + DESIGNATED);
    try (Sender sender = open()) {
      sender.table(table).longColumn("n", 1).longColumn("x", 1).cancel();
      for (int n = 0; n < 3; n++) {
        sender.table(table).longColumn("n", n).longColumn("fresh", n).at(n, MICROS);
        assertTrue(sender.drain(20_000));
      }
      sender.table(table).longColumn("n", 3).longColumn("x", (1L << 53) + 1).at(3, MICROS);
      refused(sender, "column 'x' is DOUBLE and the rows carry LONG");
      assertEquals(3, sender.counters().framesSent());
    }
    server.awaitRows(table, 3);
  }

  /** The server makes it; at the next connect it is there, and looked at as any other. */
  @Test
  void aTableThatIsLeftToTheServerMayBeMissing() throws Exception {
    Endpoint endpoint = new Endpoint("127.0.0.1", server.port());
    TableCheck check =
        new TableCheck(
            new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings()));
    check.require(
        TableSpec.builder(table)
            .column("a", QwpType.LONG)
            .onMissing(OnMissingTable.BY_SERVER)
            .build());
    check.admit(endpoint);
    assertTrue(check.facts(table).isEmpty());
    run("CREATE TABLE " + table + " (a INT" + DESIGNATED);
    GateClosed e = assertThrows(GateClosed.class, () -> check.admit(endpoint));
    assertTrue(e.getMessage().contains("column 'a' is INT and the rows carry LONG"), e.toString());
  }

  private SenderBuilder onDisk(String address) {
    return Senders.builder(
        address, "close_flush_timeout_millis=0;sf_min_free_bytes=0;sf_dir=" + dir + ";");
  }

  private void leaveFrames(String address) throws Exception {
    try (Sender sender = onDisk(address).build()) {
      sender.table(table).longColumn("n", 1).longColumn("timestamp", 1).at(1, MICROS);
    }
  }

  @Test
  void framesOfAnEarlierProcessAreCheckedToo() throws Exception {
    leaveFrames("127.0.0.1:1");
    try (Sender sender = onDisk(here()).build()) {
      refused(sender, "'" + table + "'", "is not there", "'timestamp'");
      assertEquals(0, sender.counters().framesSent());
    }
    run("CREATE TABLE " + table + " (n LONG, \"timestamp\" LONG" + DESIGNATED);
    try (Sender sender = onDisk(here()).build()) {
      assertTrue(sender.drain(20_000));
    }
    server.awaitRows(table, 1);
  }

  @Test
  void framesThatAreDrainedByHandAreCheckedToo() throws Exception {
    leaveFrames("127.0.0.1:1");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(out, true);
    String[] drain = {"drain", dir.resolve("default").toString(), "--any-target"};
    // The slot's target names another server, of which --any-target says that it does not matter.
    int status = DrainCommand.run(drain, "ws::addr=" + here() + ";", print, print);
    assertEquals(DrainCommand.REFUSED, status, out::toString);
    assertTrue(out.toString().contains("TABLE_MISMATCH"), out::toString);
  }

  /** A server without SQL says nothing of its tables: what spoils one is refused all the same. */
  @Test
  void withoutSqlRowsAreSentUnlessTheyCouldSpoilATable() throws Exception {
    Database database = new Database();
    try (ScriptServer scripted = new ScriptServer(database.acceptAll());
        Sender sender =
            Senders.builder(scripted.address(), "close_flush_timeout_millis=0;").build()) {
      Senders.writeRow(sender, "t", 0);
      assertTrue(sender.drain(20_000));
      sender.table("u").longColumn("TimeStamp", 1).at(1, MICROS);
      refused(sender, "'u'", "cannot be looked at", "HTTP 404", "'TimeStamp'", "Rename");
      assertEquals(1, sender.counters().framesSent());
    }
    database.assertComplete("t", 1);
  }
}
