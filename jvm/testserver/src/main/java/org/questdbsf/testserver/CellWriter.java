package org.questdbsf.testserver;

import io.questdb.cairo.TableWriter;

/** Puts the values of one wire column into one column of the table. */
interface CellWriter {
  /** Puts the value of this row of the message, which is not null. */
  void put(TableWriter.Row into, int row) throws ValueRefusedException;

  /** A value that the column cannot hold: SCHEMA_MISMATCH, with this message. */
  final class ValueRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    ValueRefusedException(String message) {
      super(message);
    }
  }
}
