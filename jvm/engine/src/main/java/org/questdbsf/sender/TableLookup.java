package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.net.SqlResult;
import org.questdbsf.net.SqlSession;

/**
 * Asks one server about a table. Servers differ in which columns {@code tables()} has, so all are
 * read and the missing ones taken as not said.
 */
final class TableLookup {
  /**
   * What the server said.
   *
   * @param identity changes when the table is dropped and created again
   * @param view what it is instead of a table, for people; null for a table
   * @param designatedType its SQL type, or null without a designated timestamp
   * @param ttlValue 0: none
   */
  record Found(
      String table,
      String identity,
      String view,
      Map<String, String> columns,
      String designated,
      String designatedType,
      List<String> dedupKeys,
      boolean walEnabled,
      boolean suspended,
      int ttlValue,
      String ttlUnit,
      long newestMicros) {}

  /**
   * What the list of all tables says of one.
   *
   * @param table as the server writes it
   * @param suspended null where this server does not say it there
   */
  record Glance(String table, String identity, Boolean suspended) {}

  private static final long NANOS_IN_MICRO = 1000;
  private static final String SUSPENDED = "table_suspended";
  private static final int BAD_REQUEST = 400;

  /**
   * Characters, each up to nine bytes of a URL: such a statement stays well below what servers
   * take.
   */
  private static final int NAMES_A_QUERY = 3000;

  private final SqlOverHttp sql;

  TableLookup(SqlOverHttp sql) {
    this.sql = sql;
  }

  /** The table, or empty if it is not there. */
  Optional<Found> find(Endpoint endpoint, String table) throws SqlFailure, InterruptedException {
    SqlResult row = entry(endpoint, table);
    while (!row.rows().isEmpty()) {
      try {
        return Optional.of(details(endpoint, row));
      } catch (SqlFailure e) {
        // It may have been dropped between two questions, and made anew.
        SqlResult now = e.httpStatus() == BAD_REQUEST ? entry(endpoint, table) : row;
        if (!now.rows().isEmpty() && identity(now, 0).equals(identity(row, 0))) {
          if (SqlWords.saysMissing(e)) {
            return Optional.empty(); // servers list a table for a moment after it was dropped
          }
          throw e;
        }
        row = now;
      }
    }
    return Optional.empty();
  }

  /**
   * Which tables have these names at the moment, and how they are.
   *
   * @return by name in lower case; without those that are not there
   */
  static Map<String, Glance> glance(SqlSession sql, Collection<String> tables, long dialedSince)
      throws SqlFailure, InterruptedException {
    Map<String, Glance> there = new HashMap<>();
    StringJoiner names = new StringJoiner(", ", "(", ")");
    Iterator<String> left = tables.iterator();
    while (left.hasNext()) {
      names.add(CreateTable.text(left.next()));
      if (names.length() > NAMES_A_QUERY || !left.hasNext()) {
        String statement = "SELECT * FROM tables() WHERE lower(table_name) IN " + names;
        glance(sql.query(statement, dialedSince), there);
        names = new StringJoiner(", ", "(", ")");
      }
    }
    return there;
  }

  private static void glance(SqlResult found, Map<String, Glance> there) {
    for (int i = 0; i < found.rows().size(); i++) {
      String name = (String) found.value(i, "table_name");
      Boolean suspended = (Boolean) said(found, i, SUSPENDED);
      there.put(name.toLowerCase(Locale.ROOT), new Glance(name, identity(found, i), suspended));
    }
  }

  private SqlResult entry(Endpoint endpoint, String table) throws SqlFailure, InterruptedException {
    return sql.query(
        endpoint,
        "SELECT * FROM tables() WHERE lower(table_name) = lower(" + CreateTable.text(table) + ")");
  }

  private Found details(Endpoint endpoint, SqlResult row) throws SqlFailure, InterruptedException {
    String name = (String) row.value(0, "table_name");
    SqlResult columns =
        sql.query(endpoint, "SELECT * FROM table_columns(" + CreateTable.text(name) + ")");
    Map<String, String> types = new LinkedHashMap<>();
    List<String> keys = new ArrayList<>();
    String designated = null;
    for (int i = 0; i < columns.rows().size(); i++) {
      String column = (String) columns.value(i, "column");
      types.put(column, (String) columns.value(i, "type"));
      if (Boolean.TRUE.equals(columns.value(i, "upsertKey"))) {
        keys.add(column);
      }
      if (Boolean.TRUE.equals(columns.value(i, "designated"))) {
        designated = column;
      }
    }
    boolean wal = !Boolean.FALSE.equals(said(row, "walEnabled"));
    int ttl = said(row, "ttlValue") instanceof Long value ? value.intValue() : 0;
    String designatedType = designated == null ? null : types.get(designated);
    return new Found(
        name,
        identity(row, 0),
        view(row),
        types,
        designated,
        designatedType,
        keys,
        wal,
        wal && suspended(endpoint, row, name),
        ttl,
        said(row, "ttlUnit") instanceof String unit ? unit : "HOUR",
        ttl > 0 ? newest(endpoint, name, designated, designatedType) : TtlFloor.NONE);
  }

  /** Older servers have {@code matView} instead of {@code table_type}, or neither. */
  private static String view(SqlResult row) {
    if ("V".equals(said(row, "table_type"))) {
      return "a view";
    }
    boolean materialized =
        "M".equals(said(row, "table_type")) || Boolean.TRUE.equals(said(row, "matView"));
    return materialized ? "a materialized view" : null;
  }

  private boolean suspended(Endpoint endpoint, SqlResult row, String name)
      throws SqlFailure, InterruptedException {
    Object told = said(row, SUSPENDED);
    if (told != null) {
      return Boolean.TRUE.equals(told);
    }
    SqlResult wal =
        sql.query(
            endpoint, "SELECT suspended FROM wal_tables() WHERE name = " + CreateTable.text(name));
    return !wal.rows().isEmpty() && Boolean.TRUE.equals(wal.value(0, "suspended"));
  }

  private long newest(Endpoint endpoint, String name, String designated, String type)
      throws SqlFailure, InterruptedException {
    SqlResult max =
        sql.query(
            endpoint,
            "SELECT cast(max("
                + CreateTable.identifier(designated)
                + ") AS long) newest FROM "
                + CreateTable.identifier(name));
    if (max.rows().isEmpty() || !(max.value(0, "newest") instanceof Long newest)) {
      return TtlFloor.NONE;
    }
    return type.equals("TIMESTAMP_NS") ? Math.floorDiv(newest, NANOS_IN_MICRO) : newest;
  }

  private static String identity(SqlResult rows, int row) {
    return String.valueOf(said(rows, row, "directoryName")) + said(rows, row, "id");
  }

  private static Object said(SqlResult row, String column) {
    return said(row, 0, column);
  }

  private static Object said(SqlResult rows, int row, String column) {
    return rows.columns().contains(column) ? rows.value(row, column) : null;
  }
}
