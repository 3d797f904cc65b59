package org.questdbsf.sender;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.questdbsf.net.Endpoint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which tables are suspended, as far as the senders that share this have seen: their WAL takes rows
 * and acknowledges them, and none shows until somebody resumes it. A change is logged and told
 * once, by whichever sender sees it first, and the newest look counts for all of them. Thread-safe.
 */
public final class SuspendedTables {
  private static final Logger LOG = LoggerFactory.getLogger(SuspendedTables.class);

  private record At(Endpoint endpoint, String table) {}

  /** What was said last, and when that was heard. */
  private record Word(boolean suspended, long heard) {}

  /** Tables that were suspended at some time. */
  private final Map<At, Word> words = new ConcurrentHashMap<>();

  private final Consumer<String> told;

  /** Nothing is known yet; changes are logged, and nobody else is told. */
  public SuspendedTables() {
    this(text -> {});
  }

  /**
   * Nothing is known yet.
   *
   * @param told what people should know, on the thread of a send loop; must be quick
   */
  public SuspendedTables(Consumer<String> told) {
    this.told = told;
  }

  /**
   * Takes note of what a server said of a table.
   *
   * @param asked when it was asked, by {@code System.nanoTime()}: of two looks at once one counts
   */
  void heard(Endpoint endpoint, String table, boolean suspended, long asked) {
    AtomicBoolean changed = new AtomicBoolean();
    words.compute(
        new At(endpoint, key(table)),
        (at, before) -> {
          boolean known = before == null ? !suspended : before.suspended == suspended;
          if (known || before != null && asked - before.heard < 0) {
            return before;
          }
          changed.set(true);
          return new Word(suspended, System.nanoTime());
        });
    if (!changed.get()) {
      return;
    }
    String text =
        suspended
            ? "Table '%s' on %s is suspended: what it is sent is acknowledged but does not show until"
                    .formatted(table, endpoint)
                + " ALTER TABLE %s RESUME WAL.".formatted(CreateTable.identifier(table))
            : "Table '%s' on %s is no longer suspended: what it was sent shows when it is applied."
                .formatted(table, endpoint);
    if (suspended) {
      LOG.warn("{}", text);
    } else {
      LOG.info("{}", text);
    }
    told.accept(text);
  }

  /** Which of these tables are suspended on a server; names in lower case, here and there. */
  Set<String> among(Set<String> tables, Endpoint endpoint) {
    return words.entrySet().stream()
        .filter(one -> one.getValue().suspended && one.getKey().endpoint.equals(endpoint))
        .map(one -> one.getKey().table)
        .filter(tables::contains)
        .collect(Collectors.toSet());
  }

  private static String key(String table) {
    return table.toLowerCase(Locale.ROOT);
  }
}
