package org.questdbsf.testserver;

import io.questdb.cairo.CairoException;
import java.util.function.ObjLongConsumer;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.QwpMessage;

/**
 * Messages of one connection into WAL tables, one commit a table and message; rows of deferred ones
 * wait for the next message that is not. One thread at a time.
 */
final class MessageApplier implements AutoCloseable {
  private final ConnectionTables tables;

  MessageApplier(ConnectionTables tables) {
    this.tables = tables;
  }

  /**
   * Appends the rows and, unless the message is deferred, commits all that is pending.
   *
   * @param committed told what was committed, also if a later table fails
   * @throws RefusedException if anything does not fit; all that was pending is rolled back
   */
  void apply(QwpMessage message, ObjLongConsumer<String> committed) throws RefusedException {
    try {
      append(message);
      if (!message.deferred()) {
        commit(committed);
      }
    } catch (RefusedException e) {
      close();
      throw e;
    }
  }

  /** Forgets all rows that are not committed. */
  @Override
  public void close() {
    tables.close();
  }

  private void append(QwpMessage message) throws RefusedException {
    try {
      for (DecodedTable block : message.tables()) {
        tables.of(block).write(block);
      }
    } catch (CairoException e) {
      throw refusal(e);
    } catch (RuntimeException | AssertionError e) {
      throw new RefusedException(
          RefusedException.INTERNAL_ERROR, "unexpected error: " + e.getMessage());
    }
  }

  private void commit(ObjLongConsumer<String> committed) throws RefusedException {
    try {
      tables.commit(committed);
    } catch (CairoException e) {
      throw refusal(e);
    } catch (RuntimeException | AssertionError e) {
      throw new RefusedException(
          RefusedException.INTERNAL_ERROR, "commit error: " + e.getMessage());
    }
  }

  /** The engine's exceptions are reused by their thread: what they say has to be copied at once. */
  private static RefusedException refusal(CairoException e) {
    int status = RefusedException.WRITE_ERROR;
    if (e.isAuthorizationError()) {
      status = RefusedException.SECURITY_ERROR;
    } else if (e.isCritical()) {
      status = RefusedException.INTERNAL_ERROR;
    }
    return new RefusedException(status, e.getFlyweightMessage().toString());
  }
}
