package org.questdbsf.sender;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.net.SqlSession;

/**
 * Looks at the tables of one server for all send loops of a JVM: at most one look at a time, on a
 * connection that is kept, and at most twenty in a second, however many loops ask. A look answers
 * all who asked before it began; who asks while it runs waits for the next, unless an older one is
 * good enough. Thread-safe.
 *
 * <p>There is no thread behind it: of those who wait for the next look, the first makes it for all.
 * Where that one is interrupted, another takes its place.
 */
final class TableLooks {
  /**
   * What a look found.
   *
   * @param began when it began, by {@code System.nanoTime()}
   * @param dialed when its connection began to be made
   * @param nanos what it took
   * @param names the tables that were looked for, in lower case
   * @param there those that are there, by these names; null where the look failed
   * @param failure why it failed, or null
   */
  record Answer(
      long began,
      long dialed,
      long nanos,
      Set<String> names,
      Map<String, TableLookup.Glance> there,
      SqlFailure failure) {
    private boolean serves(Question question) {
      return began - question.since >= 0
          && dialed - question.dialedSince >= 0
          && names.containsAll(question.tables);
    }

    /** The tables that are there, by their names in lower case. */
    Map<String, TableLookup.Glance> tables() throws SqlFailure {
      if (failure != null) {
        throw failure;
      }
      return there;
    }
  }

  private record Question(Set<String> tables, long since, long dialedSince) {}

  /** A look that is still to be made, or runs. */
  private static final class Turn {
    final Set<String> names = new HashSet<>();
    long dialedSince;
    long began;
    boolean over;
    Answer answer; // null where its maker did not come to one

    private Turn(Question first) {
      dialedSince = first.dialedSince;
    }

    private void add(Question question) {
      names.addAll(question.tables);
      if (question.dialedSince - dialedSince > 0) {
        dialedSince = question.dialedSince;
      }
    }

    private boolean serves(Question question) {
      return began - question.since >= 0
          && dialedSince - question.dialedSince >= 0
          && names.containsAll(question.tables);
    }
  }

  /** From the beginning of one look to that of the next. */
  private static final long APART_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Looking takes at most a quarter of the time where the server's SQL is slow, ... */
  private static final int COST_FACTOR = 4;

  /** ... but no loop waits longer than this for a look to begin. */
  private static final long MOST_REST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Tables that nobody asked for this long are not looked at any more. */
  private static final long FORGET_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Map<Object, TableLooks> SERVERS = new ConcurrentHashMap<>();

  private final SqlSession sql; // of whoever makes the look

  // Guarded by this.
  private final Map<String, Long> wanted = new HashMap<>(); // by name, when it was asked for
  private Answer last;
  private Turn running;
  private Turn next;
  private long lookAt = System.nanoTime();
  private long asked = System.nanoTime();

  private TableLooks(SqlSession sql) {
    this.sql = sql;
  }

  /**
   * Looks at tables, or takes what a look found that another loop asked for.
   *
   * @param tables names in lower case
   * @param since when the look must not have begun before, by {@code System.nanoTime()}
   * @param dialedSince when its connection must not have been made before: behind one address may
   *     be one server today and another tomorrow
   * @throws SqlFailure when the secret of the connection cannot be resolved
   */
  static Answer look(
      SqlOverHttp sql, Endpoint endpoint, List<String> tables, long since, long dialedSince)
      throws SqlFailure, InterruptedException {
    Object login = sql.login(endpoint);
    SERVERS.entrySet().removeIf(e -> !e.getKey().equals(login) && e.getValue().isForgotten());
    TableLooks looks = SERVERS.computeIfAbsent(login, key -> new TableLooks(sql.session(endpoint)));
    return looks.ask(new Question(Set.copyOf(tables), since, dialedSince));
  }

  private synchronized boolean isForgotten() {
    return running == null && next == null && System.nanoTime() - asked > FORGET_NANOS;
  }

  private Answer ask(Question question) throws InterruptedException {
    while (true) {
      Turn turn;
      boolean first = false;
      synchronized (this) {
        asked = System.nanoTime();
        question.tables.forEach(table -> wanted.put(table, asked));
        if (last != null && last.serves(question)) {
          return last;
        }
        if (running != null && running.serves(question)) {
          turn = running;
        } else {
          first = next == null;
          next = first ? new Turn(question) : next;
          next.add(question);
          turn = next;
        }
      }
      Answer answer = first ? make(turn) : await(turn);
      if (answer != null) {
        return answer;
      }
    }
  }

  private synchronized Answer await(Turn turn) throws InterruptedException {
    while (!turn.over) {
      wait();
    }
    return turn.answer;
  }

  private Answer make(Turn turn) throws InterruptedException {
    try {
      begin(turn);
      turn.answer = look(turn);
      return turn.answer;
    } finally {
      end(turn);
    }
  }

  /** Waits until it is time; from then on nobody can join. */
  private synchronized void begin(Turn turn) throws InterruptedException {
    for (long left = 1; left > 0; ) {
      left = running == null ? lookAt - System.nanoTime() : Long.MAX_VALUE;
      if (left > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    }
    next = null;
    running = turn;
    turn.began = System.nanoTime();
    wanted.values().removeIf(when -> turn.began - when > FORGET_NANOS);
    turn.names.addAll(wanted.keySet());
  }

  private Answer look(Turn turn) throws InterruptedException {
    Map<String, TableLookup.Glance> there = null;
    SqlFailure failure = null;
    try {
      there = Map.copyOf(TableLookup.glance(sql, turn.names, turn.dialedSince));
    } catch (SqlFailure e) {
      failure = e;
    }
    long nanos = System.nanoTime() - turn.began;
    return new Answer(turn.began, sql.dialed(), nanos, Set.copyOf(turn.names), there, failure);
  }

  private synchronized void end(Turn turn) {
    if (next == turn) {
      next = null;
    }
    if (running == turn) {
      running = null;
      long nanos = System.nanoTime() - turn.began;
      long rest = Math.min(COST_FACTOR * nanos, nanos + MOST_REST_NANOS);
      lookAt = turn.began + Math.max(APART_NANOS, rest);
    }
    if (turn.answer != null && turn.answer.failure == null) {
      last = turn.answer;
    }
    turn.over = true;
    notifyAll();
  }
}
