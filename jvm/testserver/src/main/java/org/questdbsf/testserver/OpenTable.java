package org.questdbsf.testserver;

import io.questdb.cairo.wal.WalWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.questdbsf.qwp.DecodedTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A table as one connection sees it: through a WAL writer that was opened once. */
final class OpenTable implements AutoCloseable {
  /** So many rows are committed at once, whatever the message says, and not acknowledged. */
  static final int MAX_UNCOMMITTED_ROWS = 1_000_000;

  /** The engine keeps the number of a writer's last transaction to itself. */
  private static final VarHandle LAST_TXN = lastTxnField();

  private static final Logger LOG = LoggerFactory.getLogger(OpenTable.class);

  private final WalWriter writer;

  OpenTable(WalWriter writer) {
    this.writer = writer;
  }

  private static VarHandle lastTxnField() {
    Class<?> owner = WalWriter.class.getSuperclass();
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findVarHandle(owner, "lastSeqTxn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** As the table spells it. */
  String name() {
    return writer.getTableToken().getTableName();
  }

  boolean hasRows() {
    return writer.getUncommittedRowCount() > 0;
  }

  /** Appends the rows of a block. */
  void write(DecodedTable block) throws RefusedException {
    BlockWriter.write(block, writer);
    if (writer.getUncommittedRowCount() >= MAX_UNCOMMITTED_ROWS) {
      writer.commit();
    }
  }

  void commit() {
    writer.commit();
  }

  /** The sequencer's number of this writer's last transaction. */
  long lastTxn() {
    return (long) LAST_TXN.get(writer);
  }

  /** Gives the writer back to the engine, which rolls it back. */
  @Override
  public void close() {
    try {
      writer.close();
    } catch (RuntimeException e) {
      // What made the connection give it back is what the client has to hear.
      LOG.warn("the writer of table {} cannot be given back", name(), e);
    }
  }
}
