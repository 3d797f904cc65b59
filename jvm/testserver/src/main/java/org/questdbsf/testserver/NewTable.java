package org.questdbsf.testserver;

import io.questdb.cairo.CairoConfiguration;
import io.questdb.cairo.ColumnType;
import io.questdb.cairo.PartitionBy;
import io.questdb.cairo.TableStructure;
import java.util.ArrayList;
import java.util.List;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;

/**
 * The table that the first block of a name makes: its columns in their order, partitioned by day,
 * WAL, no keys. The column without a name is the designated timestamp and is called {@code
 * timestamp}; where there is none, one comes last.
 *
 * <p>As on the real server nobody looks whether a name is there twice. A column that is called
 * {@code timestamp} makes a table whose metadata cannot be read.
 */
final class NewTable implements TableStructure {
  private static final String TIMESTAMP = "timestamp";

  private record Column(String name, int type) {}

  private final String name;
  private final List<Column> columns;
  private final int timestamp;
  private final CairoConfiguration configuration;

  private NewTable(
      String name, List<Column> columns, int timestamp, CairoConfiguration configuration) {
    this.name = name;
    this.columns = columns;
    this.timestamp = timestamp;
    this.configuration = configuration;
  }

  /** The table for a block; columns whose type is not known yet are left out. */
  static NewTable of(DecodedTable block, CairoConfiguration configuration) throws RefusedException {
    List<Column> columns = new ArrayList<>();
    int timestamp = -1;
    for (DecodedColumn column : block.columns()) {
      int type = ColumnTypes.columnTypeFor(column);
      if (column.name().isEmpty()) {
        timestamp = columns.size();
        columns.add(new Column(TIMESTAMP, type));
      } else if (type != ColumnTypes.UNKNOWN) {
        columns.add(new Column(column.name(), type));
      }
    }
    if (timestamp < 0) {
      timestamp = columns.size();
      columns.add(new Column(TIMESTAMP, ColumnType.TIMESTAMP_MICRO));
    }
    return new NewTable(block.name(), columns, timestamp, configuration);
  }

  @Override
  public CharSequence getTableName() {
    return name;
  }

  @Override
  public int getColumnCount() {
    return columns.size();
  }

  @Override
  public CharSequence getColumnName(int column) {
    return columns.get(column).name();
  }

  @Override
  public int getColumnType(int column) {
    return columns.get(column).type();
  }

  @Override
  public int getTimestampIndex() {
    return timestamp;
  }

  @Override
  public int getPartitionBy() {
    return PartitionBy.DAY;
  }

  @Override
  public boolean isWalEnabled() {
    return true;
  }

  @Override
  public boolean isDedupKey(int column) {
    return false;
  }

  @Override
  public boolean isIndexed(int column) {
    return false;
  }

  @Override
  public int getIndexBlockCapacity(int column) {
    return 0;
  }

  @Override
  public boolean getSymbolCacheFlag(int column) {
    return configuration.getDefaultSymbolCacheFlag();
  }

  @Override
  public int getSymbolCapacity(int column) {
    return configuration.getDefaultSymbolCapacity();
  }

  @Override
  public int getMaxUncommittedRows() {
    return configuration.getMaxUncommittedRows();
  }

  @Override
  public long getO3MaxLag() {
    return configuration.getO3MaxLag();
  }
}
