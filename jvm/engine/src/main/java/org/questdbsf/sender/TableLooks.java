package org.questdbsf.sender;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.net.SqlSession;

/**
 * Looks at the tables of one server for all send loops of a JVM: at most one look at a time, on a
 * connection that is kept, and at most twenty in a second, however many loops ask. A look answers
 * all who asked before it began; who asks while it runs waits for the next, unless an older one is
 * good enough. Thread-safe.
 */
final class TableLooks {
  /** What a look found, and when it began. */
  record Answer(long began, long nanos, Set<String> names, Map<String, TableLookup.Glance> there) {
    boolean isGood(Set<String> wanted, long since) {
      return began - since >= 0 && names.containsAll(wanted);
    }
  }

  /** A look that runs. */
  private record Running(long began, Set<String> names, CompletableFuture<Answer> answer) {
    boolean isGood(Set<String> wanted, long since) {
      return began - since >= 0 && names.containsAll(wanted);
    }
  }

  /** From the beginning of one look to that of the next. */
  private static final long APART_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Looking takes at most a quarter of the time, however slow the server's SQL is. */
  private static final int COST_FACTOR = 4;

  /** Tables that nobody asked for this long are not looked at any more. */
  private static final long FORGET_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Map<Object, TableLooks> SERVERS = new ConcurrentHashMap<>();

  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE, // one for each server that is looked at
          2,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "questdb-sf-looks");
            thread.setDaemon(true);
            return thread;
          });

  private final SqlSession sql; // the looking thread's

  // Guarded by this.
  private final Map<String, Long> wanted = new HashMap<>(); // by name, when it was asked for
  private Answer last;
  private Running running;
  private CompletableFuture<Answer> next;
  private boolean looking;
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
   */
  static Answer look(SqlOverHttp sql, Endpoint endpoint, List<String> tables, long since)
      throws SqlFailure, InterruptedException {
    Object login = sql.login(endpoint);
    SERVERS.entrySet().removeIf(e -> !e.getKey().equals(login) && e.getValue().isForgotten());
    TableLooks looks = SERVERS.computeIfAbsent(login, key -> new TableLooks(sql.session(endpoint)));
    try {
      return looks.ask(Set.copyOf(tables), since).get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SqlFailure failure) {
        throw failure;
      }
      throw new IllegalStateException("a look at the tables of " + endpoint + " failed", e);
    }
  }

  private synchronized boolean isForgotten() {
    return !looking && System.nanoTime() - asked > FORGET_NANOS;
  }

  private synchronized CompletableFuture<Answer> ask(Set<String> tables, long since) {
    asked = System.nanoTime();
    tables.forEach(table -> wanted.put(table, asked));
    if (last != null && last.isGood(tables, since)) {
      return CompletableFuture.completedFuture(last);
    }
    if (running != null && running.isGood(tables, since)) {
      return running.answer;
    }
    if (next == null) {
      next = new CompletableFuture<>();
    }
    if (!looking) {
      looking = true;
      THREADS.execute(this::run);
    }
    return next;
  }

  private void run() {
    for (CompletableFuture<Answer> asking = begin(); asking != null; asking = begin()) {
      look(asking);
    }
  }

  /** The question to answer next, when it is time for it; null for none. */
  private CompletableFuture<Answer> begin() {
    for (long left = untilLook(); left > 0; left = untilLook()) {
      LockSupport.parkNanos(left);
    }
    synchronized (this) {
      CompletableFuture<Answer> asking = next;
      next = null;
      looking = asking != null;
      return asking;
    }
  }

  private synchronized long untilLook() {
    return next == null ? 0 : lookAt - System.nanoTime();
  }

  private void look(CompletableFuture<Answer> asking) {
    Running now = running(asking);
    try {
      Map<String, TableLookup.Glance> there = TableLookup.glance(sql, now.names);
      long nanos = System.nanoTime() - now.began;
      Answer answer = new Answer(now.began, nanos, now.names, Map.copyOf(there));
      synchronized (this) {
        last = answer;
      }
      asking.complete(answer);
    } catch (Throwable e) { // whoever waits must hear of it, whatever it is
      asking.completeExceptionally(e);
    } finally {
      long nanos = System.nanoTime() - now.began;
      synchronized (this) {
        running = null;
        lookAt = now.began + Math.max(APART_NANOS, COST_FACTOR * nanos);
      }
    }
  }

  /** All tables that were asked for lately; who asked did so before it began. */
  private synchronized Running running(CompletableFuture<Answer> asking) {
    long began = System.nanoTime();
    wanted.values().removeIf(when -> began - when > FORGET_NANOS);
    running = new Running(began, Set.copyOf(wanted.keySet()), asking);
    return running;
  }
}
