package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.sender.ScriptServer.Session;

/** What a scripted server accepted: row numbers by table in the order of arrival. */
final class Database {
  /** Only what hangs gets there, however slow the machine is. */
  private static final long PATIENCE_NANOS = 120_000_000_000L;

  /** Column that numbers the rows of a table from 0. */
  static final String NUMBER = "n";

  private final Map<String, List<Long>> rows = new ConcurrentHashMap<>();

  /** Accepts a message. */
  void accept(QwpMessage message) {
    for (DecodedTable table : message.tables()) {
      List<Long> numbers = rows.computeIfAbsent(table.name(), t -> new ArrayList<>());
      synchronized (numbers) {
        numbers.addAll(numbersOf(table));
      }
    }
  }

  static List<Long> numbersOf(DecodedTable table) {
    DecodedColumn column =
        table.columns().stream().filter(c -> c.name().equals(NUMBER)).findFirst().orElseThrow();
    List<Long> numbers = new ArrayList<>();
    for (int row = 0; row < table.rows(); row++) {
      numbers.add(column.getLong(row));
    }
    return numbers;
  }

  /** Rows with repetitions. */
  List<Long> all(String table) {
    List<Long> numbers = rows.getOrDefault(table, List.of());
    synchronized (numbers) {
      return new ArrayList<>(numbers);
    }
  }

  /** Every number below {@code count} is there, first seen in order, and none beyond. */
  void assertComplete(String table, long count) {
    List<Long> all = all(table);
    Set<Long> seen = new LinkedHashSet<>(all);
    long next = 0;
    for (long number : seen) {
      assertEquals(next, number, "order in which rows of " + table + " were first seen");
      next++;
    }
    assertEquals(count, next, "rows of " + table);
  }

  /** A script that accepts and acknowledges everything. */
  ScriptServer.Script acceptAll() {
    return new ScriptServer.Script() {
      @Override
      public void message(Session session, long sequence, QwpMessage message) {
        accept(message);
        session.ok(sequence);
      }
    };
  }

  static void assertTrueEventually(java.util.function.BooleanSupplier holds, String what)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "not in time: " + what);
      Thread.sleep(5);
    }
  }
}
