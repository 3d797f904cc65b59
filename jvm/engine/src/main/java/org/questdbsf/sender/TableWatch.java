package org.questdbsf.sender;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.questdbsf.net.Endpoint;

/**
 * Whether the tables of one send loop are still those that were checked. Nothing tells a client
 * that a table was dropped: the server loses the next frame and makes the table anew, without keys,
 * for the one after it. Two things give it away: an acknowledgement that does not account for its
 * frames ({@link OkAudit}), and SQL, by which servers say which table has a name at the moment.
 * Loop's thread only.
 */
final class TableWatch {
  /** What a check found under a name. */
  record Seen(String identity, String designated, List<String> dedupKeys) {
    static Seen of(TableLookup.Found found) {
      return new Seen(found.identity(), found.designated(), List.copyOf(found.dedupKeys()));
    }

    /** Servers make tables without keys, and name the designated timestamp themselves. */
    boolean maybeMadeByServer() {
      return dedupKeys.isEmpty() && SERVERS_DESIGNATED.equalsIgnoreCase(designated);
    }
  }

  /** What a server calls the designated timestamp of a table that it makes for rows. */
  private static final String SERVERS_DESIGNATED = "timestamp";

  private record At(Endpoint endpoint, String table) {}

  /** A pause between frames this long, and the next frame waits for a look. */
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Looking takes at most a quarter of the time, however slow the server's SQL is. */
  private static final int COST_FACTOR = 4;

  private final long quietNanos;
  private final long busyNanos;
  private final int costFactor;
  private final Map<At, Seen> seen = new HashMap<>();
  private final Set<At> absent = new HashSet<>();
  private final Set<At> doubts = new HashSet<>();
  private long checkedAt = System.nanoTime();
  private long lookedAt;
  private long cost;

  TableWatch() {
    this(QUIET_NANOS, BUSY_NANOS, COST_FACTOR);
  }

  /**
   * @param quietNanos how old a look may be when nothing is on its way
   * @param busyNanos how old a look may be in any case
   * @param costFactor a look may be so many times as old as it took
   */
  TableWatch(long quietNanos, long busyNanos, int costFactor) {
    this.quietNanos = quietNanos;
    this.busyNanos = busyNanos;
    this.costFactor = costFactor;
  }

  /** A table was checked and may be shipped to. */
  void checked(Endpoint endpoint, String table, Seen found) {
    At at = at(endpoint, table);
    seen.put(at, found);
    absent.remove(at);
    doubts.remove(at);
    checkedAt = System.nanoTime();
  }

  /** A table is not there, and may be shipped to: the server makes it. */
  void absent(Endpoint endpoint, String table) {
    unknown(endpoint, table);
    absent.add(at(endpoint, table));
    checkedAt = System.nanoTime();
  }

  /** Whether the last check found no table. */
  boolean isAbsent(Endpoint endpoint, String table) {
    return absent.contains(at(endpoint, table));
  }

  /** Whether a look can tell if the table is another one than at its check. */
  boolean identifies(Endpoint endpoint, String table) {
    return seen(endpoint, table) != null || isAbsent(endpoint, table);
  }

  /** The later of a time and the last check: an older look knows less than that check. */
  long notBefore(long since) {
    return since - checkedAt >= 0 ? since : checkedAt;
  }

  /** When a table was checked last, through a connection that was made for it. */
  long checkedAt() {
    return checkedAt;
  }

  /** The server does not say what the table is. */
  void unknown(Endpoint endpoint, String table) {
    At at = at(endpoint, table);
    seen.remove(at);
    absent.remove(at);
    doubts.remove(at);
  }

  /** What the last check found, or null. */
  Seen seen(Endpoint endpoint, String table) {
    return seen.get(at(endpoint, table));
  }

  /** Names of the tables that a look can tell of on a server. */
  List<String> tables(Endpoint endpoint) {
    return Stream.concat(seen.keySet().stream(), absent.stream())
        .filter(at -> at.endpoint.equals(endpoint))
        .map(At::table)
        .toList();
  }

  /** An acknowledgement does not account for rows of a table. */
  void doubt(Endpoint endpoint, String table) {
    doubts.add(at(endpoint, table));
  }

  /** Whether an acknowledgement has lost rows of the table, and no check has followed. */
  boolean doubted(Endpoint endpoint, String table) {
    return doubts.contains(at(endpoint, table));
  }

  /**
   * All tables were looked at.
   *
   * @param began when the look began, by {@code System.nanoTime()}
   * @param nanos what a look costs, as far as this one tells
   */
  void looked(long began, long nanos) {
    lookedAt = began;
    cost = nanos;
  }

  /**
   * Whether to look again.
   *
   * @param quiet whether nothing is on its way
   */
  boolean isDue(boolean quiet, long now) {
    if (seen.isEmpty() && absent.isEmpty()) {
      return false;
    }
    long age = now - lookedAt;
    return age >= mayBeOld(quiet) && age >= costFactor * cost;
  }

  /** How long ago a look may have begun that another loop asked for. */
  long mayBeOld(boolean quiet) {
    return quiet ? quietNanos : busyNanos;
  }

  private static At at(Endpoint endpoint, String table) {
    return new At(endpoint, table.toLowerCase(Locale.ROOT));
  }
}
