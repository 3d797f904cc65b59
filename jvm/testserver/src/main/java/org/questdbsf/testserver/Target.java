package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;

/** The column of a table that a wire column's values go into. */
record Target(int index, String name, int type) {
  short tag() {
    return ColumnType.tagOf(type);
  }

  /** The type as SQL writes it. */
  String typeName() {
    return ColumnType.nameOf(type);
  }
}
