package org.questdbsf.testserver;

import io.questdb.cairo.CairoEngine;
import io.questdb.cairo.CairoException;
import io.questdb.cairo.TableToken;
import io.questdb.cairo.TableUtils;
import io.questdb.cairo.wal.WalWriter;
import io.questdb.griffin.SqlException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * WAL writers by table, and the tables that messages name for the first time.
 *
 * <p>A writer is borrowed for one commit and closed by the borrower, which gives it back to the
 * engine's own pool. An idle one there holds about 15 descriptors, so the pools of all but the last
 * {@value #MAX_IDLE_TABLES} tables are emptied. Any thread.
 */
final class WriterPool {
  static final int MAX_IDLE_TABLES = 64;

  private static final int ATTEMPTS = 4;

  private final CairoEngine engine;
  private final Map<TableToken, Boolean> recent = new LinkedHashMap<>(16, 0.75f, true);

  WriterPool(CairoEngine engine) {
    this.engine = engine;
  }

  CairoEngine engine() {
    return engine;
  }

  /**
   * A writer of this table, which is made if it is not there: {@code timestamp} designated,
   * partitioned by day, WAL, no keys.
   *
   * @param nanos whether a new table's timestamp is in nanoseconds
   */
  synchronized WalWriter acquire(String table, boolean nanos) throws RefusedException {
    for (int attempt = 1; ; attempt++) {
      TableToken token = engine.getTableTokenIfExists(table);
      if (token == null) {
        token = create(table, nanos);
      }
      if (!engine.isWalTable(token)) {
        throw new RefusedException(
            RefusedException.WRITE_ERROR,
            "table '" + table + "' is not a WAL table: create it with PARTITION BY .. WAL");
      }
      try {
        WalWriter writer = engine.getWalWriter(token);
        recent.put(token, Boolean.TRUE);
        forgetOldest();
        return writer;
      } catch (CairoException e) {
        // Dropped between the look-up and now: the next round makes it anew.
        if (attempt == ATTEMPTS || !(e.isTableDropped() || e.isTableDoesNotExist())) {
          throw e;
        }
      }
    }
  }

  private TableToken create(String table, boolean nanos) throws RefusedException {
    if (!TableUtils.isValidTableName(table, engine.getConfiguration().getMaxFileNameLength())) {
      throw new RefusedException(
          RefusedException.SCHEMA_MISMATCH, "table '" + table + "': not a valid table name");
    }
    try {
      engine.execute(
          "CREATE TABLE IF NOT EXISTS \""
              + table
              + "\" (timestamp "
              + (nanos ? "TIMESTAMP_NS" : "TIMESTAMP")
              + ") TIMESTAMP(timestamp) PARTITION BY DAY WAL");
    } catch (SqlException e) {
      throw new RefusedException(
          RefusedException.WRITE_ERROR,
          "table '" + table + "' cannot be created: " + e.getFlyweightMessage());
    }
    return engine.verifyTableName(table);
  }

  /** Locking a table's pool closes its idle writers; a busy pool refuses, and stays for later. */
  private void forgetOldest() {
    Iterator<TableToken> oldest = recent.keySet().iterator();
    while (recent.size() > MAX_IDLE_TABLES && oldest.hasNext()) {
      TableToken token = oldest.next();
      if (engine.lockWalWriters(token)) {
        engine.unlockWalWriters(token);
        oldest.remove();
      }
    }
  }
}
