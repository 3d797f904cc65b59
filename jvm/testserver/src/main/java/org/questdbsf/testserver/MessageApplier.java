package org.questdbsf.testserver;

import io.questdb.cairo.CairoException;
import io.questdb.cairo.TableToken;
import io.questdb.cairo.wal.WalWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.QwpType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages of one connection into WAL tables, one commit a table and message; deferred ones wait
 * for the next message that is not. One thread at a time.
 *
 * <p>A table that is dropped under its rows is made anew and gets them again, as the server does
 * for any unknown table. Rows of deferred messages are gone then: WRITE_ERROR. The tables of a
 * message are committed one after the other; if a later one fails, the earlier ones keep their
 * rows, and the client, which gets an error, sends them again.
 */
final class MessageApplier implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MessageApplier.class);

  /** A group of deferred messages is committed at this size, whatever its flag says. */
  private static final long MAX_UNCOMMITTED_ROWS = 1_000_000;

  private static final int MAX_TABLES_OPEN = 256;

  private final WriterPool pool;
  private final Map<String, Open> open = new LinkedHashMap<>();
  private long uncommittedRows;

  MessageApplier(WriterPool pool) {
    this.pool = pool;
  }

  /**
   * Appends the rows and, unless the message is deferred, commits all that is pending.
   *
   * @return what was committed (empty for none); null if the message waits for a commit
   * @throws RefusedException if anything does not fit; all that was pending is rolled back
   */
  List<TableTxn> apply(QwpMessage message) throws RefusedException {
    try {
      for (DecodedTable block : message.tables()) {
        append(block, message.deferred());
      }
      return message.deferred() && uncommittedRows < MAX_UNCOMMITTED_ROWS ? null : commit();
    } catch (RefusedException e) {
      throw rolledBack(e);
    } catch (CairoException e) {
      throw rolledBack(refusal(e));
    } catch (RuntimeException | AssertionError e) {
      throw rolledBack(new RefusedException(RefusedException.INTERNAL_ERROR, String.valueOf(e)));
    }
  }

  /** What made the rollback necessary is what the client has to hear, also where that fails too. */
  private RefusedException rolledBack(RefusedException refusal) {
    try {
      rollback();
    } catch (RuntimeException e) {
      LOG.warn("rollback after a refused message ({})", refusal.getMessage(), e);
    }
    return refusal;
  }

  /** Forgets all rows that are not committed. */
  void rollback() {
    RuntimeException first = null;
    for (Open table : open.values()) {
      try {
        table.giveBack(true);
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    open.clear();
    uncommittedRows = 0;
    if (first != null) {
      throw first;
    }
  }

  @Override
  public void close() {
    rollback();
  }

  private void append(DecodedTable block, boolean deferred) throws RefusedException {
    String key = block.name().toLowerCase(Locale.ROOT);
    Open table = open.get(key);
    if (table == null) {
      if (open.size() == MAX_TABLES_OPEN) {
        throw new RefusedException(
            RefusedException.WRITE_ERROR,
            "more than " + MAX_TABLES_OPEN + " tables in one commit: this test server's limit");
      }
      table = new Open(block.name(), acquire(block));
      open.put(key, table);
    }
    table.deferred |= deferred;
    if (!table.deferred) {
      table.blocks.add(block);
    }
    uncommittedRows += block.rows();
    BlockWriter.write(block, table.writer);
  }

  private WalWriter acquire(DecodedTable block) throws RefusedException {
    DecodedColumn time = BlockWriter.designated(block);
    return pool.acquire(block.name(), time != null && time.type() == QwpType.TIMESTAMP_NANOS);
  }

  private List<TableTxn> commit() throws RefusedException {
    List<TableTxn> txns = new ArrayList<>();
    for (Open table : open.values()) {
      try {
        txns.add(table.commit());
      } catch (CairoException e) {
        if (!e.isTableDropped() || table.deferred) {
          throw e;
        }
        table.giveBack(true);
        table.writer = acquire(table.blocks.get(0));
        for (DecodedTable block : table.blocks) {
          BlockWriter.write(block, table.writer);
        }
        txns.add(table.commit());
      }
      table.giveBack(false);
    }
    open.clear();
    uncommittedRows = 0;
    return txns;
  }

  /** The engine's exceptions are reused by their thread: what they say has to be copied at once. */
  private static RefusedException refusal(CairoException e) {
    int status =
        e.isAuthorizationError() ? RefusedException.SECURITY_ERROR : RefusedException.WRITE_ERROR;
    return new RefusedException(status, e.getFlyweightMessage().toString());
  }

  private final class Open {
    private final String name;
    private final List<DecodedTable> blocks = new ArrayList<>();
    private boolean deferred;
    private WalWriter writer;

    private Open(String name, WalWriter writer) {
      this.name = name;
      this.writer = writer;
    }

    private TableTxn commit() {
      writer.commit();
      TableToken token = writer.getTableToken();
      // Another connection's commit may have been counted since: a later number, never an earlier.
      return new TableTxn(name, pool.engine().getTableSequencerAPI().lastTxn(token));
    }

    private void giveBack(boolean rollback) {
      WalWriter given = writer;
      writer = null;
      if (given == null) {
        return;
      }
      try (given) {
        if (rollback && !given.isDistressed()) {
          given.rollback();
        }
      }
    }
  }
}
