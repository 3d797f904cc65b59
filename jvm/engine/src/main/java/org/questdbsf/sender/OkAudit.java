package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import org.questdbsf.net.TableTxn;

/**
 * Whether an OK proves that the rows of its frames were committed. A server may acknowledge rows
 * and throw them away: after a table is dropped, each connection that has written to it loses its
 * next commit, and the OK just does not name the table, or names fewer transactions than there were
 * commits. So an OK counts only if it names each table that the frames since the last OK commit
 * rows to, with at least one transaction more for each commit.
 *
 * <p>Transactions of other writers can make up the number. A table that replaced the old one is
 * younger than the last proof of the old one, and no server commits more than {@link
 * #MOST_TRANSACTIONS_A_MILLI} in that time: a higher number is the old table's. A lower one is
 * {@link Verdict#OPEN}, and only the identity of the table can tell.
 *
 * <p>One for each loop; its thread only. No object is made for a frame or for an OK.
 */
final class OkAudit {
  /** What an OK is worth. */
  enum Verdict {
    /** The rows are in the tables. */
    PROVEN,
    /** The rows are in the tables, unless one was replaced and others have written to it since. */
    OPEN,
    /** The rows of at least one frame are nowhere, as far as this OK says. */
    UNPROVEN
  }

  /** To one table, by all its writers together. */
  private static final long MOST_TRANSACTIONS_A_MILLI = 10;

  private static final long NANOS_A_MILLI = 1_000_000;

  /** What is known of a table on this connection; times in milliseconds since it began. */
  private static final class Table {
    /** The highest transaction named so far. */
    long transaction;

    /** When the table was the old one for certain. */
    int proven;

    // For the OK at hand.
    int commits;
    int newestSent;
    long named;
  }

  private final FrameCommits onTheirWay = new FrameCommits();
  private final FrameCommits.Visitor count = this::count;
  private final List<Table> tables = new ArrayList<>();
  private final List<Table> touched = new ArrayList<>();
  private long audited;
  private long beganNanos;
  private int looked;
  private String why;
  private String whichTable;

  /**
   * A new connection, whose tables were just looked at.
   *
   * @param now {@code System.nanoTime()}
   */
  void begin(long now) {
    beganNanos = now;
    audited = -1;
    looked = 0;
    onTheirWay.begin();
    tables.clear();
    touched.clear();
  }

  /** A dictionary message is sent. */
  void sentDictionary(long now) {
    onTheirWay.sentDictionary(millis(now));
  }

  /** Looks at the frame to send next; to be called before its bytes are masked. */
  void next(byte[] frame, int offset, int length) {
    onTheirWay.next(frame, offset, length);
  }

  /**
   * Whether the next frame should wait for the OKs of those before it. Where several commits are
   * the first to a table on this connection, and one OK stands for them, no number tells whether
   * the later ones were lost.
   */
  boolean shouldWait() {
    int number = onTheirWay.tableOfNext();
    if (number != FrameCommits.SEVERAL) {
      return number >= 0 && isFirstOnItsWay(number);
    }
    if (onTheirWay.isInGroup()) {
      return false; // nothing is acknowledged before its end
    }
    for (int i = 0; i < onTheirWay.tables().size(); i++) {
      if (isFirstOnItsWay(i)) {
        return true;
      }
    }
    return false;
  }

  private boolean isFirstOnItsWay(int number) {
    boolean named = number < tables.size() && tables.get(number).transaction > 0;
    return !named && onTheirWay.commitsOf(number) > 0;
  }

  /** Whether what was sent last belongs to a deferred group whose end is still to be sent. */
  boolean isInGroup() {
    return onTheirWay.isInGroup();
  }

  /** Whether all that was sent is acknowledged, up to a message. */
  boolean isAnswered(long sequence) {
    return audited >= sequence;
  }

  /** The frame looked at last is sent. */
  void sent(long now) {
    onTheirWay.sent(millis(now));
  }

  /**
   * Those of the tables that frames on this connection name. A server can name any number of
   * others, which nobody waits for.
   */
  List<TableTxn> known(List<TableTxn> entries) {
    for (TableTxn entry : entries) {
      if (!isKnown(entry)) {
        return entries.stream().filter(this::isKnown).toList();
      }
    }
    return entries;
  }

  private boolean isKnown(TableTxn entry) {
    return !onTheirWay.knowsTables() || onTheirWay.tables().find(entry.table()) >= 0;
  }

  /** A look that began at {@code asked} found all tables to be the ones they were. */
  void same(long asked) {
    looked = Math.max(looked, millis(asked));
  }

  /**
   * Judges an OK.
   *
   * @param sequence the last message it acknowledges, none above what was sent
   * @param entries the tables it names
   */
  Verdict judge(long sequence, List<TableTxn> entries, long now) {
    for (; audited < sequence; audited++) {
      onTheirWay.removeFirst(count);
    }
    for (TableTxn entry : entries) {
      int number = onTheirWay.tables().find(entry.table());
      if (number >= 0 && number < tables.size()) {
        tables.get(number).named = entry.seqTxn();
      }
    }
    Verdict worst = Verdict.PROVEN;
    for (Table table : touched) {
      Verdict verdict = judge(table, millis(now));
      worst = verdict.compareTo(worst) > 0 ? verdict : worst;
      table.commits = 0;
      table.named = 0;
    }
    touched.clear();
    return worst;
  }

  private void count(int number, int sentMillis) {
    while (tables.size() <= number) {
      tables.add(new Table());
    }
    Table table = tables.get(number);
    if (table.commits++ == 0) {
      touched.add(table);
    }
    table.newestSent = sentMillis;
  }

  private Verdict judge(Table table, int now) {
    long least = table.transaction + table.commits;
    if (table.named < least) {
      whichTable = onTheirWay.tables().name(tables.indexOf(table));
      why =
          table.named == 0
              ? "names no transaction of the table"
              : "names transaction %d of the table, which %d commits after transaction %d exceed"
                  .formatted(table.named, table.commits, table.transaction);
      return Verdict.UNPROVEN;
    }
    // Of several first commits the number may be that of the one before the table was dropped.
    boolean countable = table.transaction > 0 || table.commits == 1;
    table.transaction = table.named;
    long sinceProven = 1L + now - Math.max(looked, table.proven);
    if (!countable || table.named <= MOST_TRANSACTIONS_A_MILLI * sinceProven) {
      return Verdict.OPEN;
    }
    table.proven = table.newestSent;
    return Verdict.PROVEN;
  }

  /** What an unproven OK lacks, for people. */
  String why() {
    return why;
  }

  /** The table that the last unproven OK lacks. */
  String whichTable() {
    return whichTable;
  }

  private int millis(long nanos) {
    return (int) ((nanos - beganNanos) / NANOS_A_MILLI);
  }
}
