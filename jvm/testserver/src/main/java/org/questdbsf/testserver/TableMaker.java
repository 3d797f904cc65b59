package org.questdbsf.testserver;

import io.questdb.cairo.CairoEngine;
import io.questdb.cairo.TableToken;
import io.questdb.cairo.TableUtils;
import io.questdb.cairo.security.AllowAllSecurityContext;
import io.questdb.cairo.vm.Vm;
import io.questdb.cairo.vm.api.MemoryMARW;
import io.questdb.std.str.Path;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;

/** Finds the table that a block names, or makes one with the block's columns. */
final class TableMaker {
  private final DecodedTable block;
  private final CairoEngine engine;

  private TableMaker(DecodedTable block, CairoEngine engine) {
    this.block = block;
    this.engine = engine;
  }

  /** A table that rows may be written to. */
  static TableToken tableOf(DecodedTable block, CairoEngine engine) throws RefusedException {
    return new TableMaker(block, engine).table();
  }

  private TableToken table() throws RefusedException {
    if (!TableUtils.isValidTableName(block.name(), maxNameLength())) {
      throw refused();
    }
    TableToken token = engine.getTableTokenIfExists(block.name());
    if (token == null) {
      token = make();
    }
    if (token.isView() || token.isMatView()) {
      throw refused();
    }
    if (!token.isWal()) {
      throw new RefusedException(
          RefusedException.SCHEMA_MISMATCH, "cannot insert into non-WAL table: " + block.name());
    }
    return token;
  }

  private TableToken make() throws RefusedException {
    for (DecodedColumn column : block.columns()) {
      if (!column.name().isEmpty()
          && !TableUtils.isValidColumnName(column.name(), maxNameLength())) {
        throw refused();
      }
    }
    NewTable structure = NewTable.of(block, engine.getConfiguration());
    try (MemoryMARW memory = Vm.getCMARWInstance();
        Path path = new Path()) {
      return engine.createTable(
          AllowAllSecurityContext.INSTANCE, memory, path, true, structure, false);
    }
  }

  private int maxNameLength() {
    return engine.getConfiguration().getMaxFileNameLength();
  }

  private RefusedException refused() {
    return new RefusedException(
        RefusedException.INTERNAL_ERROR,
        "failed to create table update details for: " + block.name());
  }
}
