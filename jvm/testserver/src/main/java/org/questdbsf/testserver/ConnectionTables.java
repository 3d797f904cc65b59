package org.questdbsf.testserver;

import io.questdb.cairo.CairoEngine;
import io.questdb.cairo.CairoException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.questdbsf.qwp.DecodedTable;

/**
 * The tables that one connection has written to, each with a writer that stays open until the
 * connection ends. One thread at a time.
 *
 * <p>This is what makes the server lose rows. A writer outlives its table: rows for a table that
 * was dropped go into the old writer, whose commit comes to nothing without an error, and only then
 * is the writer forgotten. Columns that were dropped or renamed are still there for it until its
 * next commit.
 */
final class ConnectionTables implements AutoCloseable {
  /** Tables of a connection, if nothing else is asked for. */
  static final int MAX_TABLES = 10_000;

  private final CairoEngine engine;
  private final int maxTables;
  private final Map<String, OpenTable> open = new LinkedHashMap<>();

  ConnectionTables(CairoEngine engine, int maxTables) {
    this.engine = engine;
    this.maxTables = maxTables;
  }

  /** The table of a block, made if it is not there. */
  OpenTable of(DecodedTable block) throws RefusedException {
    String key = block.name().toLowerCase(Locale.ROOT);
    OpenTable table = open.get(key);
    if (table == null) {
      if (open.size() >= maxTables) {
        throw new RefusedException(
            RefusedException.WRITE_ERROR, "too many distinct tables, limit: " + maxTables);
      }
      table = new OpenTable(engine.getWalWriter(TableMaker.tableOf(block, engine)));
      open.put(key, table);
    }
    return table;
  }

  /**
   * Commits the rows of all tables, one table after the other; if a later one fails, the earlier
   * ones keep their rows. Rows of a table that was dropped are gone, and nobody is told.
   *
   * @param committed told each table that got rows, as the table spells its name, and the
   *     sequencer's number of the transaction
   */
  void commit(ObjLongConsumer<String> committed) {
    for (Iterator<OpenTable> tables = open.values().iterator(); tables.hasNext(); ) {
      OpenTable table = tables.next();
      if (!table.hasRows()) {
        continue;
      }
      try {
        table.commit();
        committed.accept(table.name(), table.lastTxn());
      } catch (CairoException e) {
        if (!e.isTableDropped()) {
          throw e;
        }
        tables.remove();
        table.close();
      }
    }
  }

  /** Forgets the rows that are not committed, and the writers. */
  @Override
  public void close() {
    open.values().forEach(OpenTable::close);
    open.clear();
  }
}
