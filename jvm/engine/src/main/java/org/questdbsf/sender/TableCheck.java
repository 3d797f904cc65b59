package org.questdbsf.sender;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ships nothing for a table before the table was found to fit, or was created as asked for, on this
 * connection's server: otherwise the server would make it itself, without keys. One check belongs
 * to one send loop; {@link #require}, {@link #facts}, {@link #ttlFloor} and {@link
 * #suspendedTables} may be called by any thread. Results hold as long as the connection and the
 * table: {@link TableWatch} says when to look whether it is still the same, {@link KeyRepair} mends
 * one that the server has made anew.
 *
 * <p>Columns that the rows carry and the table lacks are legal: the server adds them. Where the
 * server gives no access to SQL (401, 403, 404, 405) there is one WARN and rows are shipped
 * unchecked, unless something was asked for that only the check can keep, or the rows would spoil a
 * table that the server makes. A table that SQL cannot read is an error: rows sent to it are lost.
 */
public final class TableCheck implements ConnectionGate {
  private static final Logger LOG = LoggerFactory.getLogger(TableCheck.class);

  /** What was warned about, for all lanes of a JVM together. */
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  /** Answers of a server that gives this user no SQL. */
  private static final List<Integer> NO_SQL = List.of(401, 403, 404, 405);

  private record Required(TableSpec spec, long version) {}

  private final SqlOverHttp sql;
  private final TableLookup lookup;
  private final MissingTable missing;
  private final SuspendedTables suspended;
  private final Map<String, Required> required = new ConcurrentHashMap<>();
  private final Map<String, TableFacts> facts = new ConcurrentHashMap<>();
  private final Map<String, TtlFloor> floors = new ConcurrentHashMap<>();
  private final AtomicLong version = new AtomicLong();
  private volatile Endpoint admitted;

  // Loop thread only.
  private final TableWatch watch;
  private final KeyRepair repair;
  private Consumer<String> told = text -> {};
  private long checkedVersion; // on the connection at hand

  /** Checks through {@code /exec} on the host and port of the connection. */
  public TableCheck(SqlOverHttp sql) {
    this(sql, new SuspendedTables());
  }

  /** The same, where several lanes share what they know of suspended tables. */
  public TableCheck(SqlOverHttp sql, SuspendedTables suspended) {
    this(sql, suspended, new TableWatch());
  }

  TableCheck(SqlOverHttp sql, SuspendedTables suspended, TableWatch watch) {
    this.suspended = suspended;
    this.watch = watch;
    this.sql = sql;
    this.lookup = new TableLookup(sql);
    this.missing = new MissingTable(sql, lookup);
    this.repair = new KeyRepair(sql, lookup);
  }

  /**
   * Adds a table, or replaces what is asked of it; takes effect before the next frame is shipped.
   * Must be called before the first frame for it is published.
   */
  public synchronized void require(TableSpec spec) {
    Required before = required.get(key(spec.table()));
    if (before == null || !before.spec.equals(spec)) {
      // The table first: whoever sees the new version must find it.
      long next = version.get() + 1;
      required.put(key(spec.table()), new Required(spec, next));
      version.set(next);
    }
  }

  /** What is asked of the tables so far. */
  public Collection<TableSpec> required() {
    return required.values().stream().map(Required::spec).toList();
  }

  /**
   * What the table was found to be; empty before its first check and where it cannot be checked.
   */
  public Optional<TableFacts> facts(String table) {
    return Optional.ofNullable(facts.get(key(table)));
  }

  /** Which rows the table would discard for their age; holds across reconnects. */
  public TtlFloor ttlFloor(String table) {
    return floors.computeIfAbsent(key(table), name -> new TtlFloor());
  }

  /**
   * Which of its tables are suspended on the server it was last admitted to, as of the last look at
   * it; names in lower case. Any thread.
   */
  public Set<String> suspendedTables() {
    Endpoint endpoint = admitted;
    return endpoint == null ? Set.of() : suspended.among(facts.keySet(), endpoint);
  }

  @Override
  public long version() {
    return version.get();
  }

  @Override
  public void onNotice(Consumer<String> listener) {
    told = listener;
  }

  @Override
  public void admit(Endpoint endpoint) throws GateClosed, InterruptedException {
    check(endpoint, 0);
    admitted = endpoint;
    watch.looked(System.nanoTime(), 0);
  }

  @Override
  public Look admitMore(Endpoint endpoint) throws GateClosed, InterruptedException {
    return check(endpoint, checkedVersion);
  }

  @Override
  public void unproven(Endpoint endpoint, String table) {
    watch.doubt(endpoint, table);
  }

  @Override
  public boolean identifiesTables(Endpoint endpoint) {
    return required.keySet().stream().allMatch(table -> watch.identifies(endpoint, table));
  }

  @Override
  public boolean isDue(boolean quiet, long now) {
    return watch.isDue(quiet, now);
  }

  @Override
  public long mayBeOld(boolean quiet) {
    return watch.mayBeOld(quiet);
  }

  @Override
  public Look admitAgain(Endpoint endpoint, long since) throws GateClosed, InterruptedException {
    long began = System.nanoTime();
    long cost = 0;
    Look look = Look.SAME;
    try {
      TableLooks.Answer answer =
          TableLooks.look(
              sql, endpoint, watch.tables(endpoint), watch.notBefore(since), watch.checkedAt());
      began = answer.began();
      cost = answer.nanos();
      Map<String, TableLookup.Glance> there = answer.tables();
      for (Required table : List.copyOf(required.values())) {
        String name = table.spec.table();
        TableWatch.Seen before = watch.seen(endpoint, name);
        TableLookup.Glance now = there.get(key(name));
        if (before == null) {
          if (now != null && watch.isAbsent(endpoint, name)) {
            check(endpoint, table.spec); // made meanwhile: it is the one from now on
          }
          continue; // or not checked yet, or cannot be
        }
        if (now != null && before.identity().equals(now.identity())) {
          if (now.suspended() != null) {
            suspended.heard(endpoint, now.table(), now.suspended(), began);
          }
        } else {
          check(endpoint, table.spec);
          look = Look.REPLACED;
        }
      }
    } catch (SqlFailure e) {
      // Nothing says that a table is gone: rows need not wait for a server too busy for SQL.
      LOG.debug("Tables on {} are not looked at again now: {}", endpoint, SqlWords.of(e));
      cost = System.nanoTime() - began;
      look = Look.UNKNOWN;
    } finally {
      watch.looked(began, cost);
    }
    return look;
  }

  private Look check(Endpoint endpoint, long above) throws GateClosed, InterruptedException {
    // Read first: a table added meanwhile has a higher version and is asked for again.
    long upTo = version.get();
    Look look = Look.SAME;
    for (Required table : List.copyOf(required.values())) {
      if (table.version > above && check(endpoint, table.spec)) {
        look = Look.REPLACED;
      }
    }
    checkedVersion = upTo;
    return look;
  }

  /** Returns whether the table was checked before and has been replaced since. */
  private boolean check(Endpoint endpoint, TableSpec spec) throws GateClosed, InterruptedException {
    TableWatch.Seen before = watch.seen(endpoint, spec.table());
    long asked = System.nanoTime();
    Optional<TableLookup.Found> found;
    try {
      found = lookup.find(endpoint, spec.table());
    } catch (SqlFailure e) {
      withoutCheck(endpoint, spec, e);
      return false;
    }
    if (found.isEmpty() && spec.onMissing() == OnMissingTable.BY_SERVER) {
      TableFit.refuseSecondTimestamp(endpoint, spec, "is not there");
      facts.remove(key(spec.table()));
      watch.absent(endpoint, spec.table());
      return before != null;
    }
    if (found.isEmpty()) {
      found = Optional.of(missing.create(endpoint, spec));
    }
    TableLookup.Found there = found.get();
    boolean replaced = before != null && !before.identity().equals(there.identity());
    if (replaced && spec.onMissing() == OnMissingTable.FAIL) {
      refuseServersOwn(endpoint, spec, before, there);
    }
    boolean repaired = repair.isDue(endpoint, spec, there);
    if (repaired) {
      there = repair.enable(endpoint, spec, there);
    }
    TableFacts table = remember(endpoint, spec, there);
    TableFit.verify(endpoint, spec, table, there);
    watch.checked(endpoint, spec.table(), TableWatch.Seen.of(there));
    repair.note(endpoint, spec, there);
    if (repaired) {
      String text = KeyRepair.told(endpoint, spec, there);
      LOG.warn("{}", text);
      told.accept(text);
    }
    suspended.heard(endpoint, there.table(), there.suspended(), asked);
    warnAboutKeys(endpoint, spec, there);
    return replaced || repaired;
  }

  /**
   * With {@code on_missing_table=fail} a table that was gone in mid-stream ends the sender, also
   * where the server has made it anew for rows on the way. One that somebody dropped and created
   * again is written to like any other.
   */
  private void refuseServersOwn(
      Endpoint endpoint, TableSpec spec, TableWatch.Seen before, TableLookup.Found found)
      throws GateClosed {
    TableWatch.Seen now = TableWatch.Seen.of(found);
    boolean lostKeys = !before.dedupKeys().isEmpty() && now.dedupKeys().isEmpty();
    boolean byServer =
        now.maybeMadeByServer()
            && (watch.doubted(endpoint, spec.table()) || !before.maybeMadeByServer());
    if (lostKeys || byServer) {
      throw GateClosed.of(
          true,
          ErrorCode.TABLE_MISSING,
          found.table(),
          "table '"
              + found.table()
              + "' on "
              + endpoint
              + " was dropped in mid-stream, and there is another one now, made by the server for"
              + " rows on the way or by somebody else"
              + (lostKeys
                  ? ", without the dedup keys " + String.join(", ", before.dedupKeys())
                  : "")
              + "; put the right table in its place before the query is started again, or set"
              + " create_table=on (on_missing_table=create) to have it created.",
          null);
    }
  }

  private TableFacts remember(Endpoint endpoint, TableSpec spec, TableLookup.Found found) {
    TtlFloor floor = ttlFloor(spec.table());
    TableWatch.Seen before = watch.seen(endpoint, spec.table());
    if (before != null && !before.identity().equals(found.identity())) {
      floor.forget();
    }
    floor.found(found.ttlValue(), found.ttlUnit(), found.newestMicros());
    TableFacts table =
        new TableFacts(
            found.table(),
            Collections.unmodifiableMap(found.columns()),
            Optional.ofNullable(found.designated()),
            List.copyOf(found.dedupKeys()),
            found.walEnabled(),
            floor);
    facts.put(key(spec.table()), table);
    return table;
  }

  private void withoutCheck(Endpoint endpoint, TableSpec spec, SqlFailure e) throws GateClosed {
    if (SqlWords.isFinal(e)) {
      throw GateClosed.of(
          true,
          ErrorCode.TABLE_MISMATCH,
          spec.table(),
          "table '"
              + spec.table()
              + "' on "
              + endpoint
              + " cannot be read, and would not show the rows sent to it: "
              + SqlWords.of(e)
              + ". Where its metadata is invalid, nothing but DROP TABLE helps; then create it.",
          e);
    }
    boolean noSql = NO_SQL.contains(e.httpStatus());
    if (!noSql || spec.mustBeChecked()) {
      throw GateClosed.of(
          noSql,
          noSql ? ErrorCode.TABLE_MISMATCH : ErrorCode.CONNECT_FAILED,
          spec.table(),
          "table '"
              + spec.table()
              + "' cannot be checked through SQL on "
              + endpoint
              + ": "
              + SqlWords.of(e)
              + (noSql
                  ? "; give the user access to /exec, or drop create_table,"
                      + " on_missing_table=create, require_dedup and update_keys, which need it."
                  : "; tried again at the next connect."),
          e);
    }
    String answer = "cannot be looked at, since SQL answers " + SqlWords.of(e);
    TableFit.refuseSecondTimestamp(endpoint, spec, answer);
    unchecked(endpoint, spec);
    warnOnce(
        "unchecked " + endpoint,
        "Tables are not checked on {} before rows are sent, neither types nor designated timestamp,"
            + " dedup keys or TTL: SQL answers {}.",
        endpoint,
        SqlWords.of(e));
  }

  private void unchecked(Endpoint endpoint, TableSpec spec) {
    facts.remove(key(spec.table()));
    watch.unknown(endpoint, spec.table());
  }

  private void warnAboutKeys(Endpoint endpoint, TableSpec spec, TableLookup.Found table) {
    if (!spec.dedupKeys().isEmpty()
        && !TableFit.sameNames(KeyRepair.wanted(spec, table), table.dedupKeys())) {
      warnOnce(
          "keys " + endpoint + " " + table.table() + " " + table.dedupKeys(),
          "Table '{}' on {} was there before, with dedup keys {} and not {} as asked for.",
          table.table(),
          endpoint,
          table.dedupKeys(),
          new TreeSet<>(spec.dedupKeys()));
    }
  }

  private void warnOnce(String what, String format, Object... arguments) {
    if (WARNED.add(what)) {
      LOG.warn(format, arguments);
    }
  }

  private static String key(String table) {
    return table.toLowerCase(Locale.ROOT);
  }
}
