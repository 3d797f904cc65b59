package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpType;

/** Compares a table with what is asked of it. Every difference is terminal: it stays. */
final class TableFit {
  /** What a server calls the designated timestamp of a table that it makes. */
  private static final String SERVERS_TIMESTAMP = "timestamp";

  private TableFit() {}

  /**
   * Refuses an ordinary column with the name that a server gives to the designated timestamp of a
   * table that it makes: a table with both cannot be read, and all its rows are lost.
   *
   * @param state why the server may have to make the table
   */
  static void refuseSecondTimestamp(Endpoint endpoint, TableSpec spec, String state)
      throws GateClosed {
    for (TableSpec.Column column : spec.columns()) {
      if (Names.fold(column.name()).equals(SERVERS_TIMESTAMP)) {
        throw GateClosed.of(
            true,
            ErrorCode.TABLE_MISMATCH,
            spec.table(),
            "table '"
                + spec.table()
                + "' on "
                + endpoint
                + " "
                + state
                + ", and the rows have an ordinary column '"
                + column.name()
                + "': where the server makes the table, it gives that name to the designated"
                + " timestamp, and a table with two columns of one name cannot be read. Rename the"
                + " column, or give it as the designated timestamp, or create the table first, with"
                + " a designated timestamp of another name.",
            null);
      }
    }
  }

  static void verify(Endpoint endpoint, TableSpec spec, TableFacts table, TableLookup.Found found)
      throws GateClosed {
    List<String> problems = new ArrayList<>();
    if (found.view() != null) {
      problems.add("it is " + found.view() + ", which takes no rows; name a table");
    } else {
      wal(found, problems);
      designated(spec, found, problems);
      columns(spec, table, found, problems);
      keys(spec, table, problems);
    }
    if (!problems.isEmpty()) {
      throw GateClosed.of(
          true,
          ErrorCode.TABLE_MISMATCH,
          table.table(),
          "table '"
              + table.table()
              + "' on "
              + endpoint
              + " does not fit: "
              + String.join("; ", problems)
              + ".",
          null);
    }
  }

  private static void wal(TableLookup.Found found, List<String> problems) {
    if (!found.walEnabled()) {
      problems.add(
          "it is no WAL table, and only those take rows this way; ALTER TABLE … SET TYPE WAL and a"
              + " restart of the server make it one if it has partitions, else create it with"
              + " TIMESTAMP(column) PARTITION BY … WAL");
    }
  }

  private static void designated(TableSpec spec, TableLookup.Found found, List<String> problems) {
    if (found.designated() == null) {
      problems.add("it has no designated timestamp; create it with TIMESTAMP(column)");
    } else if (spec.designatedType() == QwpType.TIMESTAMP_NANOS
        && !found.designatedType().equals("TIMESTAMP_NS")) {
      problems.add(
          "its designated timestamp '"
              + found.designated()
              + "' is "
              + found.designatedType()
              + " and the rows carry TIMESTAMP_NS, which would lose digits; send microseconds");
    }
  }

  private static void columns(
      TableSpec spec, TableFacts table, TableLookup.Found found, List<String> problems) {
    Map<String, String> types = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    types.putAll(table.columns());
    for (TableSpec.Column column : spec.columns()) {
      String there = types.get(column.name());
      if (column.name().equalsIgnoreCase(found.designated())) {
        problems.add(
            "column '"
                + column.name()
                + "' is its designated timestamp and the rows carry it as an ordinary one; name it"
                + " as the timestamp");
      } else if (there != null && !TableTypes.fits(column, there)) {
        problems.add(
            "column '"
                + column.name()
                + "' is "
                + there
                + " and the rows carry "
                + column.sqlType()
                + "; change one of them (column_types, a cast, or ALTER TABLE)");
      }
    }
  }

  private static void keys(TableSpec spec, TableFacts table, List<String> problems) {
    if (!spec.updateKeys().isEmpty() && !sameNames(spec.updateKeys(), table.dedupKeys())) {
      problems.add(
          "its dedup keys are "
              + names(table.dedupKeys())
              + " and update_keys are "
              + names(spec.updateKeys())
              + "; make them equal (ALTER TABLE … DEDUP ENABLE UPSERT KEYS(…))");
    } else if (spec.requireDedup() && table.dedupKeys().isEmpty()) {
      problems.add(
          "it has no dedup keys and require_dedup is on; ALTER TABLE … DEDUP ENABLE UPSERT KEYS(…)"
              + " or drop the option");
    }
  }

  static boolean sameNames(Collection<String> a, Collection<String> b) {
    return lower(a).equals(lower(b));
  }

  private static String names(List<String> names) {
    return names.isEmpty() ? "none" : String.join(", ", lower(names));
  }

  private static TreeSet<String> lower(Collection<String> names) {
    TreeSet<String> lower = new TreeSet<>();
    names.forEach(name -> lower.add(name.toLowerCase(Locale.ROOT)));
    return lower;
  }
}
