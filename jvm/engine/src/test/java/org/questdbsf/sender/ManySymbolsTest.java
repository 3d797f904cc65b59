package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** More symbols than a connection's dictionary should have, or a frame can carry. */
@Timeout(60)
class ManySymbolsTest {
  private static final String CAP = "X-QWP-Max-Batch-Size";

  @TempDir Path directory;

  /** Texts by table and number; and that no id changes its meaning on a connection. */
  private static final class Server implements ScriptServer.Script {
    final Map<String, Map<Long, String>> texts = new ConcurrentHashMap<>();
    final List<Map<Integer, String>> dictionaries = new CopyOnWriteArrayList<>();
    final List<String> faults = new CopyOnWriteArrayList<>();
    volatile int resetEvery = Integer.MAX_VALUE;
    volatile String cap = "1000000";
    private int messages;

    @Override
    public Upgrade upgrade(int connection) {
      dictionaries.add(new ConcurrentHashMap<>());
      return Upgrade.accept(CAP, cap);
    }

    @Override
    public void message(Session session, long sequence, QwpMessage message) {
      Map<Integer, String> known = dictionaries.get(dictionaries.size() - 1);
      for (int i = 0; i < message.delta().size(); i++) {
        String text = message.delta().get(i);
        String before = known.put(message.deltaStart() + i, text);
        if (before != null && !before.equals(text)) {
          faults.add("id " + (message.deltaStart() + i) + ": " + before + ", then " + text);
        }
      }
      if (++messages % resetEvery == 0) {
        session.reset();
        return;
      }
      message.tables().forEach(this::accept);
      session.ok(sequence);
    }

    private void accept(DecodedTable table) {
      Map<String, DecodedColumn> columns = new HashMap<>();
      table.columns().forEach(column -> columns.put(column.name(), column));
      Map<Long, String> of = texts.computeIfAbsent(table.name(), t -> new ConcurrentHashMap<>());
      for (int row = 0; row < table.rows(); row++) {
        String text = columns.get("a").getText(row) + "/" + columns.get("b").getText(row);
        String before = of.put(columns.get(Database.NUMBER).getLong(row), text);
        if (before != null && !before.equals(text)) {
          faults.add("row " + row + ": " + before + ", then " + text);
        }
      }
    }

    void assertHas(String table, long rows) {
      assertEquals(List.of(), faults);
      Map<Long, String> of = texts.getOrDefault(table, Map.of());
      assertEquals(rows, of.size());
      for (long n = 0; n < rows; n++) {
        assertEquals(textOf("a", n) + "/" + textOf("b", n), of.get(n), "row " + n);
      }
    }
  }

  private static String textOf(String column, long n) {
    return column + "-symbol-" + n;
  }

  private static void write(Sender sender, String table, long from, long to) throws Exception {
    for (long n = from; n < to; n++) {
      Row row = sender.table(table).longColumn(Database.NUMBER, n);
      row.symbol("a", textOf("a", n)).symbol("b", textOf("b", n)).atNow();
    }
  }

  private String slot() {
    return "sf_dir=" + directory + ";sf_min_free_bytes=0;close_flush_timeout_millis=0;";
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MAX_VALUE, 7, 3})
  void inMemoryADictionaryIsFollowedByAnEmptyOne(int resetEvery) throws Exception {
    Server script = new Server();
    script.resetEvery = resetEvery;
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, "max_symbols_per_slot=100;auto_flush_rows=20;")) {
      write(sender, "t", 0, 2_000);
      assertTrue(sender.drain(30_000));
      script.assertHas("t", 2_000);
      int connections = script.dictionaries.size();
      assertTrue(connections > 20, connections + " connections");
      if (resetEvery == Integer.MAX_VALUE) {
        assertEquals(0, sender.counters().reconnectsSucceeded(), "none was lost");
        assertEquals(0, sender.counters().reconnectAttempts());
      } else {
        assertTrue(sender.counters().reconnectsSucceeded() > 0, "some were lost");
      }
      script.dictionaries.forEach(known -> assertTrue(known.size() <= 140, known.size() + " ids"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MAX_VALUE, 5})
  void inASlotAsWell(int resetEvery) throws Exception {
    Server script = new Server();
    script.resetEvery = resetEvery;
    script.cap = "20000";
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, slot() + "initial_connect_retry=on;")) {
      write(sender, "t", 0, 5_000);
      assertTrue(sender.drain(30_000));
      script.assertHas("t", 5_000);
    }
  }

  @Test
  void aSlotGoesOnThroughAnOutageAndARestart() throws Exception {
    try (Sender sender =
        Senders.builder("127.0.0.1:1", slot() + "sf_max_segment_bytes=1m;").build()) {
      write(sender, "t", 0, 30_000);
      sender.flush();
    }
    Server script = new Server();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, slot() + "sf_max_segment_bytes=1m;")) {
      write(sender, "t", 30_000, 40_000);
      assertTrue(sender.drain(30_000));
      script.assertHas("t", 40_000);
    }
  }

  /** The symbols of one table lie between two rows of another. */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "slot"})
  void symbolsOfOtherTablesAreNotInTheWay(String where) throws Exception {
    Server script = new Server();
    script.cap = "20000";
    String keys = where.equals("slot") ? slot() : "";
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, keys + "initial_connect_retry=on;auto_flush=off;")) {
      write(sender, "few", 0, 1);
      write(sender, "many", 0, 3_000);
      write(sender, "few", 1, 2);
      assertTrue(sender.drain(30_000));
      script.assertHas("many", 3_000);
      script.assertHas("few", 2);
    }
  }

  /** A whole column gets its ids before the next one: the first row needs nearly all of them. */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "slot"})
  void aBlockWhoseFirstRowHasTheLastIdIsCut(String where) throws Exception {
    Server script = new Server();
    script.cap = "20000";
    String keys = where.equals("slot") ? slot() : "";
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, keys + "initial_connect_retry=on;")) {
      List<String> later = new ArrayList<>();
      for (int n = 0; n < 3_000; n++) {
        later.add(textOf("a", n));
      }
      for (int n = 2_999; n >= 0; n--) {
        sender.dictionary().idOf(later.get(n));
      }
      TableBlock block = sender.newBlock("t");
      for (int n = 0; n < 3_000; n++) {
        block.column(Database.NUMBER, QwpType.LONG).putLong(n);
        block.column("a", QwpType.SYMBOL).putText(textOf("a", n));
        block.column("b", QwpType.SYMBOL).putText(textOf("b", n));
        block.endRow();
      }
      sender.awaitAcked(sender.publish(block));
      script.assertHas("t", 3_000);
    }
  }

  @Test
  void theUserDoesNotNoticeThatADictionaryIsFull() throws Exception {
    Server script = new Server();
    List<SenderError> told = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            Senders.builder(server.address(), "max_symbols_per_slot=100;initial_connect_retry=on;")
                .errorHandler(told::add)
                .build()) {
      write(sender, "first", 0, 1);
      sender.awaitAcked(sender.flush());
      long[] written = {0};
      long quiet = System.nanoTime() + 1_200_000_000L; // two lines of a kind are a second apart
      String said =
          Logs.of(
              () -> {
                while (written[0] < 5_000 || System.nanoTime() < quiet) {
                  write(sender, "t", written[0], written[0] += 100);
                  sender.flush();
                  SenderState state = sender.state();
                  assertEquals(SenderState.Kind.OK, state.kind(), state.toString());
                }
                assertTrue(sender.drain(30_000));
              });
      assertFalse(said.contains("connect"), said);
      assertTrueEventually(() -> script.dictionaries.size() > 40, "a connection each");
      assertEquals(List.of(), told);
      script.assertHas("t", written[0]);
    }
  }
}
