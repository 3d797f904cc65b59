package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.questdbsf.qwp.QwpType;

/**
 * What a stream of rows asks of a table. Immutable.
 *
 * @param table name of the table
 * @param columns columns that the rows carry, without the designated timestamp
 * @param designatedType TIMESTAMP or TIMESTAMP_NANOS; null where the server assigns the time
 * @param createDdl statement that creates the table, made by {@link CreateTable}; null if it may
 *     not be created
 * @param dedupKeys keys that {@code createDdl} gives the table; a table that is there with other
 *     keys is warned about
 * @param requireDedup whether a table without dedup keys is refused
 * @param updateKeys keys that the table must have, no more and no fewer; empty: any
 * @param onMissing what is done where the table is not there
 */
public record TableSpec(
    String table,
    List<Column> columns,
    QwpType designatedType,
    String createDdl,
    List<String> dedupKeys,
    boolean requireDedup,
    List<String> updateKeys,
    OnMissingTable onMissing) {

  /**
   * A column that the rows carry.
   *
   * @param sqlType QuestDB's name of the type to create, such as {@code GEOHASH(6c)}
   */
  public record Column(String name, QwpType type, String sqlType) {
    public Column {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(sqlType, "sqlType");
    }
  }

  public TableSpec {
    Objects.requireNonNull(table, "table");
    Objects.requireNonNull(onMissing, "onMissing");
    columns = List.copyOf(columns);
    dedupKeys = List.copyOf(dedupKeys);
    updateKeys = List.copyOf(updateKeys);
    if (onMissing == OnMissingTable.CREATE && createDdl == null) {
      throw new IllegalArgumentException("CREATE needs a statement, table " + table);
    }
  }

  /** Nothing is asked of the table, which the server makes where it is missing. */
  static TableSpec leftToServer(String table, List<Column> columns, QwpType designatedType) {
    return new TableSpec(
        table,
        columns,
        designatedType,
        null,
        List.of(),
        false,
        List.of(),
        OnMissingTable.BY_SERVER);
  }

  /** The same, for rows with other columns. */
  TableSpec with(List<Column> columns, QwpType designatedType) {
    return new TableSpec(
        table, columns, designatedType, createDdl, dedupKeys, requireDedup, updateKeys, onMissing);
  }

  /** Whether the check must be possible: without it, what was asked for cannot be kept. */
  boolean mustBeChecked() {
    return onMissing == OnMissingTable.CREATE || requireDedup || !updateKeys.isEmpty();
  }

  public static Builder builder(String table) {
    return new Builder(table);
  }

  /** Gathers a {@link TableSpec} and makes the statement that creates the table. */
  public static final class Builder {
    private final String table;
    private final List<Column> columns = new ArrayList<>();
    private String designated;
    private QwpType designatedType;
    private String partitionBy = "DAY";
    private String ttl;
    private List<String> dedupKeys = List.of();
    private boolean requireDedup;
    private List<String> updateKeys = List.of();
    private OnMissingTable onMissing = OnMissingTable.FAIL;

    private Builder(String table) {
      this.table = table;
    }

    /** A column whose SQL type follows from its wire type. */
    public Builder column(String name, QwpType type) {
      return column(name, type, TableTypes.sqlName(type));
    }

    /** A column with an SQL type of its own, such as {@code DECIMAL(18,4)}. */
    public Builder column(String name, QwpType type, String sqlType) {
      columns.add(new Column(name, type, sqlType));
      return this;
    }

    /** The designated timestamp; its name is used only if the table is created. */
    public Builder designated(String name, QwpType type) {
      this.designated = name;
      this.designatedType = type;
      return this;
    }

    /** HOUR, DAY, WEEK, MONTH or YEAR. */
    public Builder partitionBy(String unit) {
      this.partitionBy = unit;
      return this;
    }

    /** Time to live such as {@code 30 DAYS}, or null for none. */
    public Builder ttl(String text) {
      this.ttl = text;
      return this;
    }

    public Builder dedupKeys(List<String> keys) {
      this.dedupKeys = keys;
      return this;
    }

    public Builder requireDedup(boolean on) {
      this.requireDedup = on;
      return this;
    }

    public Builder updateKeys(List<String> keys) {
      this.updateKeys = keys;
      return this;
    }

    public Builder onMissing(OnMissingTable action) {
      this.onMissing = action;
      return this;
    }

    /**
     * Checks and builds.
     *
     * @throws org.questdbsf.error.SfException if the table cannot be created as asked for
     */
    public TableSpec build() {
      List<String> keys = withDesignated(dedupKeys);
      String ddl =
          onMissing == OnMissingTable.CREATE
              ? CreateTable.statement(
                  table, columns, designated, designatedType, partitionBy, ttl, keys)
              : null;
      return new TableSpec(
          table, columns, designatedType, ddl, keys, requireDedup, updateKeys, onMissing);
    }

    /** QuestDB demands the designated timestamp among the keys; it may be left out here. */
    private List<String> withDesignated(List<String> keys) {
      if (keys.isEmpty()
          || designated == null
          || keys.stream().anyMatch(designated::equalsIgnoreCase)) {
        return keys;
      }
      List<String> all = new ArrayList<>(keys);
      all.add(0, designated);
      return all;
    }
  }
}
