package org.questdbsf.testserver;

import java.util.LinkedHashMap;
import java.util.Map;
import org.questdbsf.qwp.QwpMessage;

/**
 * Messages and the rows in them by table: what is received, and later acknowledged, together.
 * Immutable.
 */
record Tally(long messages, Map<String, Long> rowsByTable) {
  static final Tally NONE = new Tally(0, Map.of());

  static Tally of(QwpMessage message) {
    Map<String, Long> rows = new LinkedHashMap<>();
    message.tables().forEach(table -> rows.merge(table.name(), (long) table.rows(), Long::sum));
    return new Tally(1, rows);
  }

  Tally plus(Tally other) {
    Map<String, Long> rows = new LinkedHashMap<>(rowsByTable);
    other.rowsByTable.forEach((table, count) -> rows.merge(table, count, Long::sum));
    return new Tally(messages + other.messages, rows);
  }

  long rows() {
    return rowsByTable.values().stream().mapToLong(Long::longValue).sum();
  }
}
