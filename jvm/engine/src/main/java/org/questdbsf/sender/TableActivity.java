package org.questdbsf.sender;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.TableTxn;

/**
 * When the servers last accepted rows of a table from any sender of this JVM. A frame that is
 * refused while others of its table go through is at fault itself; where none goes through it is
 * the table or the server, and waiting helps. Any thread.
 */
final class TableActivity {
  private static final Map<List<Endpoint>, TableActivity> BY_TARGET = new ConcurrentHashMap<>();

  private final Map<String, Long> lastAccepted = new ConcurrentHashMap<>();
  private final AtomicBoolean nameless = new AtomicBoolean();

  private TableActivity() {}

  /** The one for a set of servers. */
  static TableActivity of(List<Endpoint> endpoints) {
    return BY_TARGET.computeIfAbsent(List.copyOf(endpoints), key -> new TableActivity());
  }

  /** Rows of these tables were accepted at {@code now} (nanoseconds). */
  void accepted(List<TableTxn> tables, long now) {
    for (TableTxn table : tables) {
      lastAccepted.put(table.table(), now);
    }
  }

  /** Whether these servers ever named a table in an acknowledgement. */
  boolean namesTables() {
    return !lastAccepted.isEmpty();
  }

  /** Whether these servers were found to acknowledge without naming tables. */
  boolean isNameless() {
    return nameless.get();
  }

  /**
   * These servers acknowledge without naming tables.
   *
   * @return whether that is new
   */
  boolean foundNameless() {
    return nameless.compareAndSet(false, true);
  }

  /** Whether rows of a table were accepted after {@code since} (nanoseconds). */
  boolean acceptedSince(String table, long since) {
    // Servers answer with the table's own spelling; a frame may have another. Seldom asked.
    return lastAccepted.entrySet().stream()
        .anyMatch(last -> last.getKey().equalsIgnoreCase(table) && last.getValue() - since > 0);
  }
}
