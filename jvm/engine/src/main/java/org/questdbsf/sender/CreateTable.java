package org.questdbsf.sender;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpType;

/**
 * Writes CREATE TABLE statements for QuestDB, with every name quoted. A statement travels in the
 * head of a request, for which servers have little room: where a table has very many columns, the
 * rest of them comes with the rows, or is added one by one.
 */
public final class CreateTable {
  /** Bytes of a statement in a request; a server's head has 64 KB by default, some proxy's 16. */
  private static final int MOST_BYTES = 12 * 1024;

  private static final int SHOWN_CHARACTERS = 200;
  private static final Set<String> PARTITIONS = Set.of("HOUR", "DAY", "WEEK", "MONTH", "YEAR");
  private static final String TTL =
      "[1-9][0-9]{0,6} ?(H|D|W|M|Y|HOURS?|DAYS?|WEEKS?|MONTHS?|YEARS?)";

  private CreateTable() {}

  /**
   * The statement for a WAL table: with its designated timestamp, its dedup keys, and as many of
   * the other columns as fit.
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
    }
    String time = identifier(designated);
    StringBuilder sql = new StringBuilder(" TIMESTAMP(").append(time).append(")");
    sql.append(" PARTITION BY ").append(partition(partitionBy));
    if (ttl != null) {
      sql.append(" TTL ").append(ttl(ttl));
    }
    sql.append(" WAL");
    if (!dedupKeys.isEmpty()) {
      sql.append(" DEDUP UPSERT KEYS").append(keys(table, columns, designated, dedupKeys));
    }
    String begin = "CREATE TABLE IF NOT EXISTS " + identifier(table) + " (";
    sql.insert(0, time + " " + TableTypes.sqlName(designatedType) + ")");
    return begin + fitting(columns, dedupKeys, MOST_BYTES - bytes(begin) - bytes(sql)) + sql;
  }

  /**
   * The definitions of as many columns as have room, each with a comma behind it: keys in any case,
   * then those of which a server would make another type from the rows, then the rest.
   */
  private static String fitting(List<TableSpec.Column> columns, List<String> keys, int room) {
    Set<String> keyNames = keys.stream().map(Names::fold).collect(Collectors.toSet());
    Set<TableSpec.Column> chosen = new HashSet<>();
    int left = room;
    for (int rank = 0; rank <= 2; rank++) {
      for (TableSpec.Column column : columns) {
        boolean key = keyNames.contains(Names.fold(column.name()));
        int bytes = bytes(definition(column));
        if (rank == (key ? 0 : isMadeByRows(column) ? 2 : 1) && (key || bytes <= left)) {
          left -= bytes;
          chosen.add(column);
        }
      }
    }
    StringBuilder list = new StringBuilder();
    for (TableSpec.Column column : columns) {
      list.append(chosen.contains(column) ? definition(column) + ", " : "");
    }
    return list.toString();
  }

  /** Whether a server makes just this column when the first row with it comes. */
  static boolean isMadeByRows(TableSpec.Column column) {
    return column.type() != QwpType.LONG_ARRAY // of which QuestDB has no column
        && column.equals(TableTypes.plain(column.name(), column.type()));
  }

  private static String definition(TableSpec.Column column) {
    return identifier(column.name()) + " " + column.sqlType();
  }

  /** The statement that adds a column, one at a time as WAL tables want it. */
  static String addition(String table, TableSpec.Column column) {
    return "ALTER TABLE " + identifier(table) + " ADD COLUMN IF NOT EXISTS " + definition(column);
  }

  /** Bytes of a part of a statement in a request, the comma and blank before it included. */
  private static int bytes(CharSequence part) {
    return URLEncoder.encode(part.toString(), StandardCharsets.UTF_8).length() + 4;
  }

  /** A statement for people: its beginning, where it is long. */
  static String shown(String sql) {
    return sql.length() <= 2 * SHOWN_CHARACTERS
        ? sql
        : sql.substring(0, SHOWN_CHARACTERS) + "… (" + sql.length() + " characters)";
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
