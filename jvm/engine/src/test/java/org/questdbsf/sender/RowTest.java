package org.questdbsf.sender;

import static java.time.temporal.ChronoUnit.MICROS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.ScriptServer.Session;

/** Rows one by one. */
@Timeout(30)
class RowTest {
  private final List<QwpMessage> messages = new CopyOnWriteArrayList<>();
  private final ScriptServer.Script script =
      new ScriptServer.Script() {
        @Override
        public void message(Session session, long sequence, QwpMessage message) {
          messages.add(message);
          session.ok(sequence);
        }
      };

  private DecodedColumn column(int message, String name) {
    return messages.get(message).tables().get(0).columns().stream()
        .filter(c -> c.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void everyTypeArrives() throws Exception {
    UUID uuid = UUID.randomUUID();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "auto_flush=off;")) {
      sender
          .table("t")
          .symbol("symbol", "a")
          .stringColumn("text", "ä\uD83D\uDE00")
          .boolColumn("bool", true)
          .byteColumn("byte", (byte) -5)
          .shortColumn("short", (short) -300)
          .intColumn("int", 70_000)
          .longColumn("long", 1L << 40)
          .floatColumn("float", 1.5f)
          .doubleColumn("double", -2.25)
          .charColumn("char", 'ß')
          .dateColumn("date", 1_700_000_000_000L)
          .ipv4Column("ip", 0xC0A80001L)
          .decimalColumn("decimal", new BigDecimal("123.450"))
          .uuidColumn("uuid", uuid)
          .long256Column("l256", 1, 2, 3, 4)
          .geohashColumn("geo", 0b10110, 5)
          .binaryColumn("bin", new byte[] {0, 1, -1})
          .doubleArrayColumn("doubles", new double[] {1, 2, 3, 4}, 2, 2)
          .timestampColumn("micros", 7, ChronoUnit.MILLIS)
          .timestampColumn("nanos", 8, ChronoUnit.NANOS)
          .timestampColumn("instant", Instant.ofEpochSecond(1, 5_999))
          .at(9, ChronoUnit.SECONDS);
      assertTrue(sender.drain(10_000));
    }
    assertEquals("a", column(0, "symbol").getText(0));
    assertEquals("ä\uD83D\uDE00", column(0, "text").getText(0));
    assertTrue(column(0, "bool").getBoolean(0));
    assertEquals(-5, column(0, "byte").getLong(0));
    assertEquals(-300, column(0, "short").getLong(0));
    assertEquals(70_000, column(0, "int").getLong(0));
    assertEquals(1L << 40, column(0, "long").getLong(0));
    assertEquals(1.5f, column(0, "float").getFloat(0));
    assertEquals(-2.25, column(0, "double").getDouble(0));
    assertEquals('ß', column(0, "char").getLong(0));
    assertEquals(1_700_000_000_000L, column(0, "date").getLong(0));
    assertEquals(0xC0A80001L, column(0, "ip").getLong(0) & 0xFFFF_FFFFL);
    assertEquals(0, new BigDecimal("123.450").compareTo(column(0, "decimal").getDecimal(0)));
    assertEquals(uuid.getMostSignificantBits(), column(0, "uuid").getUuidHi(0));
    assertEquals(uuid.getLeastSignificantBits(), column(0, "uuid").getUuidLo(0));
    assertEquals(3, column(0, "l256").getLong256(0, 2));
    assertEquals(0b10110, column(0, "geo").getGeohash(0));
    assertArrayEquals(new byte[] {0, 1, -1}, column(0, "bin").getBytes(0));
    assertArrayEquals(new double[] {1, 2, 3, 4}, column(0, "doubles").getDoubleArray(0));
    assertEquals(7_000, column(0, "micros").getLong(0));
    assertEquals(8, column(0, "nanos").getLong(0));
    assertEquals(QwpType.TIMESTAMP_NANOS, column(0, "nanos").type());
    assertEquals(1_000_005, column(0, "instant").getLong(0));
    assertEquals(9_000_000, column(0, "").getLong(0));
  }

  @Test
  void nullsCancelledRowsAndTheServersTime() throws Exception {
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "auto_flush=off;")) {
      sender.table("t").symbol("s", "gone").longColumn("n", 1).cancel();
      sender.table("t").stringColumn("x", null).uuidColumn("u", null).longColumn("n", 2).atNow();
      assertEquals(0, sender.dictionary().size(), "its symbol is gone with the row");
      sender.table("t").symbol("s", null).longColumn("n", 3).binaryColumn("b", null).atNow();
      sender.table("t").symbol("s", "kept").longColumn("n", 4).decimalColumn("d", null).atNow();
      assertTrue(sender.drain(10_000));
    }
    DecodedTable table = messages.get(0).tables().get(0);
    assertEquals(3, table.rows());
    assertEquals(List.of(2L, 3L, 4L), Database.numbersOf(table));
    assertTrue(table.columns().stream().noneMatch(c -> c.name().isEmpty()), "no time of ours");
    assertTrue(column(0, "s").isNull(0) && column(0, "s").isNull(1));
    assertEquals("kept", column(0, "s").getText(2));
    assertEquals(List.of("kept"), messages.get(0).delta());
  }

  @Test
  void autoFlushByRowsBytesAndTime() throws Exception {
    try (ScriptServer server = new ScriptServer(script)) {
      try (Sender sender = Senders.open(server, "auto_flush_rows=7;auto_flush_interval=600000;")) {
        for (int n = 0; n < 20; n++) {
          Senders.writeRow(sender, "t", n);
        }
        assertEquals(1, sender.publishedFsn(), "two frames of seven, six wait");
      }
      try (Sender sender =
          Senders.open(
              server, "auto_flush_rows=off;auto_flush_bytes=1k;auto_flush_interval=600000;")) {
        for (int n = 0; n < 100; n++) {
          Senders.writeRow(sender, "t", n);
        }
        assertTrue(sender.publishedFsn() >= 0, "by bytes");
      }
      try (Sender sender = Senders.open(server, "auto_flush_rows=off;auto_flush_interval=1;")) {
        Senders.writeRow(sender, "t", 0);
        Thread.sleep(5);
        Senders.writeRow(sender, "t", 1);
        assertEquals(0, sender.publishedFsn(), "by time, at the next row");
      }
      try (Sender sender =
          Senders.open(server, "auto_flush=off;init_buf_size=1k;max_buf_size=2k;")) {
        SfException thrown =
            assertThrows(
                SfException.class,
                () -> {
                  for (int n = 0; n < 1000; n++) {
                    Senders.writeRow(sender, "t", n);
                  }
                });
        assertEquals(ErrorCode.LIMIT_EXCEEDED, thrown.code());
        sender.flush();
      }
    }
  }

  @Test
  void aRingInMemorySendsEachSymbolOnce() throws Exception {
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "")) {
      Senders.publish(sender, "t", 0, 5);
      Senders.publish(sender, "t", 3, 8);
      Senders.publish(sender, "t", 0, 2);
      assertTrue(sender.drain(10_000));
    }
    assertEquals(List.of("s0", "s1", "s2", "s3", "s4"), messages.get(0).delta());
    assertEquals(5, messages.get(1).deltaStart());
    assertEquals(List.of("s5", "s6", "s7"), messages.get(1).delta());
    assertEquals(8, messages.get(2).deltaStart());
    assertEquals(List.of(), messages.get(2).delta());
  }

  @Test
  void tablesTakeTurnsAndEachKeepsItsOrder() throws Exception {
    Database database = new Database();
    try (ScriptServer server = new ScriptServer(database.acceptAll());
        Sender sender = Senders.open(server, "auto_flush_rows=11;")) {
      long[] next = new long[3];
      for (int i = 0; i < 1000; i++) {
        int table = i * 7 % 3;
        Senders.writeRow(sender, "t" + table, next[table]++);
      }
      assertTrue(sender.drain(10_000));
      for (int table = 0; table < 3; table++) {
        database.assertComplete("t" + table, next[table]);
      }
    }
  }

  /** Refused here, it takes no other row of its frame with it. */
  @ParameterizedTest
  @CsvSource({
    "-1, MICROS",
    "-1, SECONDS",
    "253402300800000, MILLIS",
    "-1, NANOS",
    "9214646400000000000, NANOS"
  })
  void aDesignatedTimeThatQuestDbDoesNotTakeIsRefusedAlone(long time, ChronoUnit unit)
      throws Exception {
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "auto_flush=off;")) {
      sender.table("t").longColumn("n", 1).at(1, unit == ChronoUnit.NANOS ? unit : MICROS);
      Row row = sender.table("t").longColumn("n", 2);
      SfException e = assertThrows(SfException.class, () -> row.at(time, unit));
      assertEquals(ErrorCode.VALUE_INVALID, e.code());
      assertTrue(e.getMessage().contains("designated timestamp"), e.getMessage());
      assertTrue(e.getMessage().contains("table 't', row 1"), e.getMessage());
      row.cancel();
      sender.flush();
      assertTrue(sender.drain(10_000));
    }
    assertEquals(1, messages.get(0).tables().get(0).rows());
    assertEquals(1, column(0, "n").getLong(0));
  }

  @Test
  void misuseIsNamed() throws Exception {
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "auto_flush=off;")) {
      List<SfException> thrown = new ArrayList<>();
      Row row = sender.table("t");
      thrown.add(assertThrows(SfException.class, () -> sender.table("u")));
      thrown.add(assertThrows(SfException.class, sender::flush));
      row.longColumn("n", 1);
      assertEquals(
          ErrorCode.TYPE_CONFLICT,
          assertThrows(SfException.class, () -> row.doubleColumn("n", 1)).code());
      assertEquals(
          ErrorCode.VALUE_INVALID,
          assertThrows(SfException.class, () -> row.longColumn("m", Long.MIN_VALUE)).code());
      assertEquals(
          ErrorCode.NAME_INVALID,
          assertThrows(SfException.class, () -> row.longColumn("a".repeat(200), 1)).code());
      assertThrows(SfException.class, () -> row.at(Long.MAX_VALUE, ChronoUnit.SECONDS));
      assertThrows(SfException.class, () -> row.at(1, ChronoUnit.DAYS));
      row.cancel();
      thrown.add(assertThrows(SfException.class, () -> row.longColumn("n", 1)));
      thrown.forEach(e -> assertEquals(ErrorCode.VALUE_INVALID, e.code()));
      assertEquals(-1, sender.flush());
    }
  }
}
