package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Several tables of a sender that were published in part when a flush failed. */
@Timeout(120)
class PartlyPublishedTest {
  private static final String CAP = "X-QWP-Max-Batch-Size";
  private static final String WIDE = "1000000";
  private static final String NARROW = "20000";
  private static final int LARGE = 30_000;

  private static final String KEYS =
      "auto_flush=off;initial_connect_retry=on;frame_rows=3;max_symbols_per_slot=40;"
          + "close_flush_timeout_millis=0;";

  @TempDir Path directory;

  /** Decodes all, keeps the texts of each row, and answers while it is asked to. */
  private static final class Script implements ScriptServer.Script {
    final Map<String, Map<Long, String>> rows = new ConcurrentHashMap<>();
    final List<String> faults = new CopyOnWriteArrayList<>();
    volatile String cap = WIDE;
    volatile boolean answers = true;

    @Override
    public Upgrade upgrade(int connection) {
      return Upgrade.accept(CAP, cap);
    }

    @Override
    public void message(Session session, long sequence, QwpMessage message) {
      message.tables().forEach(this::accept);
      if (answers) {
        session.ok(sequence);
      }
    }

    private void accept(DecodedTable table) {
      Map<String, DecodedColumn> columns = new HashMap<>();
      table.columns().forEach(column -> columns.put(column.name(), column));
      Map<Long, String> of = rows.computeIfAbsent(table.name(), t -> new ConcurrentHashMap<>());
      for (int row = 0; row < table.rows(); row++) {
        long n = columns.get(Database.NUMBER).getLong(row);
        String text = columns.get("a").getText(row) + "," + columns.get("b").getText(row);
        of.put(n, text);
        if (!text.equals(symbols(table.name(), n))) {
          faults.add("row " + n + " of " + table.name() + " has " + text);
        }
      }
    }

    void assertHas(String table, long count) {
      assertEquals(List.of(), faults);
      assertEquals(count, rows.getOrDefault(table, Map.of()).size(), "rows of " + table);
    }
  }

  private static String a(String table, long n) {
    return table + "-a-" + n;
  }

  private static String b(String table, long n) {
    return table + "-b-" + n % 7;
  }

  private static String symbols(String table, long n) {
    return a(table, n) + "," + b(table, n);
  }

  private static void write(Sender sender, String table, long n, int bytes) throws Exception {
    Row row = sender.table(table).longColumn(Database.NUMBER, n);
    row.symbol("a", a(table, n)).symbol("b", b(table, n));
    row.stringColumn("text", "x".repeat(bytes)).atNow();
  }

  private Sender open(ScriptServer server, String where, String keys) throws Exception {
    return open(server, where, "64k", "256k", keys);
  }

  private Sender open(ScriptServer server, String where, String segment, String all, String keys)
      throws Exception {
    String slot = "sf_dir=" + directory + ";sf_min_free_bytes=0;on_server_error=halt;";
    String room = "sf_max_segment_bytes=" + segment + ";sf_max_total_bytes=" + all + ";";
    return Senders.open(server, KEYS + room + (where.equals("slot") ? slot : "") + keys);
  }

  /** A new connection, which takes frames of another size. */
  private static void changeCap(ScriptServer server, Script script, Sender sender, String cap)
      throws Exception {
    script.cap = cap;
    server.run(() -> List.copyOf(server.open).forEach(Session::reset));
    boolean narrow = cap.equals(NARROW);
    assertTrueEventually(() -> narrow == sender.frameBytes() <= 18_000, "the cap " + cap);
  }

  /** However many tables stop at a row, and wherever: what went goes once, the rest goes later. */
  @ParameterizedTest
  @CsvSource({"memory,0", "memory,4", "memory,9", "slot,0", "slot,4", "slot,9"})
  void tablesThatStopAtALargeRowGoOnThere(String where, int large) throws Exception {
    List<String> tables = List.of("x", "y", "z");
    Script script = new Script();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, where, "")) {
      for (int n = 0; n < 10; n++) {
        for (String table : tables) {
          write(sender, table, n, n == large ? LARGE : 10);
        }
      }
      changeCap(server, script, sender, NARROW);
      for (int i = 0; i < 3; i++) {
        SfException thrown = assertThrows(SfException.class, sender::flush);
        assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
        assertEquals(3L * large, sender.counters().rowsWritten(), "flush " + i);
      }
      for (String table : tables) {
        write(sender, table, 10, 10);
      }
      changeCap(server, script, sender, WIDE);
      assertTrue(sender.drain(20_000));
      assertEquals(33, sender.counters().rowsWritten());
      for (String table : tables) {
        script.assertHas(table, 11);
      }
    }
  }

  /** Each block is published again in its turn, with others in between that stopped as well. */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "slot"})
  void blocksThatFoundNoRoomGoOnWhereTheyStopped(String where) throws Exception {
    Script script = new Script();
    script.answers = false;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, where, "4k", "12k", "sf_append_deadline_millis=20;")) {
      List<TableBlock> blocks = new ArrayList<>();
      for (String table : List.of("x", "y", "z")) {
        TableBlock block = sender.newBlock(table);
        for (long n = 0; n < 300; n++) {
          block.column(Database.NUMBER, QwpType.LONG).putLong(n);
          block.column("a", QwpType.SYMBOL).putText(a(table, n));
          block.column("b", QwpType.SYMBOL).putText(b(table, n));
          block.endRow();
        }
        blocks.add(block);
      }
      boolean left = true;
      for (int round = 0; left; round++) {
        assertTrue(round < 1_000, "it gets on");
        left = false;
        for (TableBlock block : blocks) {
          tryPublish(sender, block);
          left |= block.rows() > 0;
          // Room for some frames, until the next table stops.
          server.run(() -> server.open.forEach(PartlyPublishedTest::acknowledge));
        }
      }
      script.answers = true;
      server.run(() -> server.open.forEach(PartlyPublishedTest::acknowledge));
      assertTrue(sender.drain(20_000));
      assertEquals(900, sender.counters().rowsWritten());
      for (TableBlock block : blocks) {
        script.assertHas(block.table(), 300);
      }
    }
  }

  private static void acknowledge(Session session) {
    if (session.received() > 0) {
      session.ok(session.received() - 1);
    }
  }

  private static void tryPublish(Sender sender, TableBlock block) throws InterruptedException {
    try {
      sender.publish(block);
    } catch (SfException e) {
      assertEquals(ErrorCode.BACKPRESSURE_TIMEOUT, e.code());
    }
  }

  /** Failures of all kinds in any order, against a count of what was written. */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "slot"})
  void whateverFailsInBetweenEachRowIsPublishedOnce(String where) throws Exception {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, Long> written = new HashMap<>();
    Script script = new Script();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, where, "sf_append_deadline_millis=10;")) {
      for (int step = 0; step < 150; step++) {
        String table = "t" + random.nextInt(3);
        int count = random.nextInt(12);
        for (int i = 0; i < count; i++) {
          long n = written.getOrDefault(table, 0L);
          if (tryWrite(sender, table, n, random.nextInt(8) == 0 ? LARGE : random.nextInt(3_000))) {
            written.put(table, n + 1);
          }
        }
        switch (random.nextInt(8)) {
          case 0 -> changeCap(server, script, sender, NARROW);
          case 1 -> changeCap(server, script, sender, WIDE);
          case 2 -> script.answers = false;
          case 3 -> answerAgain(server, script);
          default -> tryFlush(sender);
        }
      }
      answerAgain(server, script);
      changeCap(server, script, sender, WIDE);
      while (!tryFlush(sender)) {
        Thread.onSpinWait(); // frames find room as the server acknowledges
      }
      assertTrue(sender.drain(20_000), "seed " + seed);
      long all = written.values().stream().mapToLong(n -> n).sum();
      assertEquals(all, sender.counters().rowsWritten(), "seed " + seed);
      for (Map.Entry<String, Long> of : written.entrySet()) {
        script.assertHas(of.getKey(), of.getValue());
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private static void answerAgain(ScriptServer server, Script script) throws InterruptedException {
    server.run(
        () -> {
          script.answers = true;
          server.open.forEach(PartlyPublishedTest::acknowledge);
        });
  }

  private static boolean tryWrite(Sender sender, String table, long n, int bytes) throws Exception {
    try {
      write(sender, table, n, bytes);
      return true;
    } catch (SfException e) {
      assertEquals(ErrorCode.FRAME_TOO_LARGE, e.code());
      sender.cancelRow();
      return false;
    }
  }

  private static boolean tryFlush(Sender sender) throws InterruptedException {
    try {
      sender.flush();
      return true;
    } catch (SfException e) {
      assertTrue(
          e.code() == ErrorCode.FRAME_TOO_LARGE || e.code() == ErrorCode.BACKPRESSURE_TIMEOUT,
          e.toString());
      return false;
    }
  }

  /** Rows that are in frames already do not count as gathered, nor do they keep a flush due. */
  @Test
  void whatIsPublishedIsNoLongerGathered() throws Exception {
    Script script = new Script();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, "memory", "max_buf_size=90000;")) {
      for (int n = 0; n < 40; n++) {
        write(sender, "x", n, 2_000);
      }
      write(sender, "x", 40, LARGE);
      changeCap(server, script, sender, NARROW);
      assertThrows(SfException.class, sender::flush);
      for (int n = 41; n < 60; n++) {
        write(sender, "x", n, 2_000);
      }
      changeCap(server, script, sender, WIDE);
      assertTrue(sender.drain(20_000));
      assertEquals(60, sender.counters().rowsWritten());
      script.assertHas("x", 60);
    }
  }
}
