package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpType;

/** Writes CREATE TABLE statements for QuestDB, with every name quoted. */
public final class CreateTable {
  private static final Set<String> PARTITIONS = Set.of("HOUR", "DAY", "WEEK", "MONTH", "YEAR");
  private static final String TTL =
      "[1-9][0-9]{0,6} ?(H|D|W|M|Y|HOURS?|DAYS?|WEEKS?|MONTHS?|YEARS?)";

  private CreateTable() {}

  /**
   * The statement for a WAL table.
   *
   * @param designated name of the designated timestamp
   * @param ttl such as {@code 30 DAYS} or {@code 2h}, or null
   * @param dedupKeys columns of DEDUP UPSERT KEYS; the designated timestamp is added if missing, as
   *     QuestDB demands it; empty: no dedup
   * @throws SfException CONFIG_INVALID_VALUE, CONFIG_MISSING or NAME_INVALID
   */
  public static String statement(
      String table,
      List<TableSpec.Column> columns,
      String designated,
      QwpType designatedType,
      String partitionBy,
      String ttl,
      List<String> dedupKeys) {
    if (designated == null) {
      throw new SfException(
          ErrorCode.CONFIG_MISSING,
          "table '"
              + table
              + "' cannot be created without a designated timestamp; name its column.");
    }
    StringJoiner list = new StringJoiner(", ", "(", ")");
    for (TableSpec.Column column : columns) {
      if (Names.fold(column.name()).equals(Names.fold(designated))) {
        throw new SfException(
            ErrorCode.NAME_INVALID,
            "table '"
                + table
                + "' cannot be created with '"
                + column.name()
                + "' as an ordinary column and '"
                + designated
                + "' as its designated timestamp; rename the column, or name it as the timestamp.");
      }
      list.add(identifier(column.name()) + " " + column.sqlType());
    }
    String time = identifier(designated);
    list.add(time + " " + TableTypes.sqlName(designatedType));
    StringBuilder sql = new StringBuilder("CREATE TABLE IF NOT EXISTS ");
    sql.append(identifier(table)).append(' ').append(list);
    sql.append(" TIMESTAMP(").append(time).append(")");
    sql.append(" PARTITION BY ").append(partition(partitionBy));
    if (ttl != null) {
      sql.append(" TTL ").append(ttl(ttl));
    }
    sql.append(" WAL");
    if (!dedupKeys.isEmpty()) {
      sql.append(" DEDUP UPSERT KEYS").append(keys(table, columns, designated, dedupKeys));
    }
    return sql.toString();
  }

  private static StringJoiner keys(
      String table, List<TableSpec.Column> columns, String designated, List<String> dedupKeys) {
    List<String> names = new ArrayList<>();
    columns.forEach(column -> names.add(column.name().toLowerCase(Locale.ROOT)));
    names.add(designated.toLowerCase(Locale.ROOT));
    StringJoiner keys = new StringJoiner(", ", "(", ")");
    for (String key : dedupKeys) {
      if (!names.contains(key.toLowerCase(Locale.ROOT))) {
        throw new SfException(
            ErrorCode.CONFIG_INVALID_VALUE,
            "dedup_keys names '"
                + key
                + "', which is no column of table '"
                + table
                + "'; it has "
                + names
                + ".");
      }
      keys.add(identifier(key));
    }
    return keys;
  }

  /** A name in double quotes. */
  static String identifier(String name) {
    boolean control = name.chars().anyMatch(Character::isISOControl);
    if (name.isEmpty() || control || name.indexOf('"') >= 0) {
      throw new SfException(
          ErrorCode.NAME_INVALID,
          "name '"
              + name.replaceAll("\\p{Cntrl}", "?")
              + "' is empty or has a double quote or control character; rename the column or"
              + " table.");
    }
    return '"' + name + '"';
  }

  /** A text in single quotes. */
  static String text(String value) {
    return "'" + value.replace("'", "''") + "'";
  }

  private static String partition(String unit) {
    String upper = unit.toUpperCase(Locale.ROOT);
    if (!PARTITIONS.contains(upper)) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "partition_by=" + unit + " is not known; give HOUR, DAY, WEEK, MONTH or YEAR.");
    }
    return upper;
  }

  private static String ttl(String ttl) {
    String upper = ttl.strip().toUpperCase(Locale.ROOT);
    if (!upper.matches(TTL)) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "ttl=" + ttl + " is no time to live; give a number and a unit, for example 30 DAYS.");
    }
    return upper;
  }
}
