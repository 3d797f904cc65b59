package org.questdbsf.sender;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;

/**
 * Gives its dedup keys to a table that the server made anew for rows on the way, after the one with
 * the asked-for keys was dropped. Without them, rows that are sent again would be there twice.
 *
 * <p>Only where the table was to be created with keys, this JVM has seen it with them, and another
 * table of that name has none at all: a table that is found without keys at first, or with other
 * keys, is somebody's own. Remembered for all lanes of a JVM, since a new lane may be the first to
 * meet the new table. Any thread.
 */
final class KeyRepair {
  private record At(Endpoint endpoint, String table) {}

  private static final Map<At, String> HAD_KEYS = new ConcurrentHashMap<>();
  private static final long SHOW_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOOK_MILLIS = 20;

  private final SqlOverHttp sql;
  private final TableLookup lookup;

  KeyRepair(SqlOverHttp sql, TableLookup lookup) {
    this.sql = sql;
    this.lookup = lookup;
  }

  /** Takes note of a table that has the keys it was to be created with. */
  void note(Endpoint endpoint, TableSpec spec, TableLookup.Found found) {
    if (isAskedFor(spec) && TableFit.sameNames(wanted(spec, found), found.dedupKeys())) {
      HAD_KEYS.put(at(endpoint, spec), found.identity());
    }
  }

  /** Whether the table has lost its keys by being made anew. */
  boolean isDue(Endpoint endpoint, TableSpec spec, TableLookup.Found found) {
    String keyed = HAD_KEYS.get(at(endpoint, spec));
    return isAskedFor(spec)
        && found.dedupKeys().isEmpty()
        && keyed != null
        && !keyed.equals(found.identity());
  }

  private static boolean isAskedFor(TableSpec spec) {
    return spec.onMissing() == OnMissingTable.CREATE && !spec.dedupKeys().isEmpty();
  }

  /**
   * The asked-for keys by the names of the table that is there: the server names the designated
   * timestamp in its own way. Empty while the table does not show a column for each.
   */
  static Set<String> wanted(TableSpec spec, TableLookup.Found found) {
    Set<String> there = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    there.addAll(found.columns().keySet());
    Set<String> keys = new LinkedHashSet<>();
    for (String key : spec.dedupKeys()) {
      keys.add(there.contains(key) || found.designated() == null ? key : found.designated());
    }
    return keys.size() == spec.dedupKeys().size() && there.containsAll(keys) ? keys : Set.of();
  }

  /**
   * Enables the keys and waits until they show. What was just made shows its columns only after a
   * while, too.
   *
   * @return the table as it is then
   * @throws GateClosed when the server refuses, or they do not show for 10 s
   */
  TableLookup.Found enable(Endpoint endpoint, TableSpec spec, TableLookup.Found found)
      throws GateClosed, InterruptedException {
    TableLookup.Found now = found;
    String statement = null;
    try {
      long end = System.nanoTime() + SHOW_NANOS;
      while (System.nanoTime() - end < 0) {
        Set<String> keys = wanted(spec, now);
        if (!keys.isEmpty() && TableFit.sameNames(keys, now.dedupKeys())) {
          return now;
        }
        if (statement == null && !keys.isEmpty()) {
          statement = statement(now.table(), keys);
          sql.query(endpoint, statement);
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        Optional<TableLookup.Found> next = lookup.find(endpoint, spec.table());
        if (next.isEmpty() || !next.get().identity().equals(found.identity())) {
          throw closed(false, endpoint, spec, "it was dropped once more", null);
        }
        now = next.get();
      }
    } catch (SqlFailure e) {
      throw closed(SqlWords.isFinal(e) || SqlWords.isDenied(e), endpoint, spec, statement, e);
    }
    String why =
        statement == null
            ? "it has only the columns " + now.columns().keySet()
            : statement + " has had no effect yet";
    throw closed(false, endpoint, spec, why, null);
  }

  /** What people should know afterwards. */
  static String told(Endpoint endpoint, TableSpec spec, TableLookup.Found found) {
    return "table '"
        + found.table()
        + "' on "
        + endpoint
        + " was dropped while rows were on the way, and the server made it anew without the keys;"
        + " they were enabled with "
        + statement(found.table(), wanted(spec, found))
        + ". Names, partitioning and TTL are the server's choice: to have the table as asked for,"
        + " stop the senders, drop it once more, and start them again.";
  }

  private static String statement(String table, Set<String> keys) {
    StringJoiner list = new StringJoiner(", ", "(", ")");
    keys.forEach(key -> list.add(CreateTable.identifier(key)));
    return "ALTER TABLE " + CreateTable.identifier(table) + " DEDUP ENABLE UPSERT KEYS" + list;
  }

  private static GateClosed closed(
      boolean terminal, Endpoint endpoint, TableSpec spec, String why, SqlFailure cause) {
    return GateClosed.of(
        terminal,
        ErrorCode.TABLE_MISMATCH,
        spec.table(),
        "table '"
            + spec.table()
            + "' on "
            + endpoint
            + " was dropped while rows were on the way, and the server made it anew without"
            + " the dedup keys "
            + String.join(", ", spec.dedupKeys())
            + ", which cannot be enabled: "
            + (cause == null ? why : why + ": " + SqlWords.of(cause))
            + "; drop the table or enable the keys by hand before the query is started again.",
        cause);
  }

  private static At at(Endpoint endpoint, TableSpec spec) {
    return new At(endpoint, spec.table().toLowerCase(Locale.ROOT));
  }
}
