package org.questdbsf.sender;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.MalformedMessageException;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.MessageHeader;

/**
 * Which tables each message on its way commits rows to, in the order of the messages. A frame
 * commits its own tables; the last frame of a deferred group those of the whole group; blocks
 * without rows, dictionary messages and frames inside a group commit nothing. No object is made for
 * a frame of one table, which is all that this client writes. Loop's thread only.
 */
final class FrameCommits {
  /** Called for a table that a message commits rows to. */
  @FunctionalInterface
  interface Visitor {
    void commits(int table, int sentMillis);
  }

  /** Instead of the number of a table. */
  static final int NOTHING = -1;

  /** The same: see what waits in {@link #several}. */
  static final int SEVERAL = -2;

  /** Servers commit so many rows of a table at once, whatever the frame says, and name nothing. */
  private static final int ROWS_COMMITTED_EARLY = 1_000_000;

  private final FrameLook look = new FrameLook();
  private final IntQueue commits = new IntQueue();
  private final IntQueue sentMillis = new IntQueue();
  private final ArrayDeque<int[]> several = new ArrayDeque<>();
  private final Set<Integer> group = new TreeSet<>();
  private TableNumbers tables = new TableNumbers();
  private long[] groupRows = new long[16];
  private int[] commitsOf = new int[16]; // on their way, by table
  private boolean unreadable;
  private byte[] frame;
  private int offset;
  private int length;

  /** A new connection. */
  void begin() {
    commits.clear();
    sentMillis.clear();
    several.clear();
    group.clear();
    Arrays.fill(groupRows, 0);
    Arrays.fill(commitsOf, 0);
    tables = new TableNumbers();
    unreadable = false;
  }

  /** Whether all tables that frames on this connection name are known. */
  boolean knowsTables() {
    return !unreadable;
  }

  /** Numbers of the tables that were named on this connection. */
  TableNumbers tables() {
    return tables;
  }

  /** A dictionary message is sent. */
  void sentDictionary(int millis) {
    commits.add(NOTHING);
    sentMillis.add(millis);
  }

  /** Looks at the next frame, whose bytes are not touched before it is {@link #sent}. */
  void next(byte[] bytes, int from, int size) {
    frame = bytes;
    offset = from;
    length = size;
    look.read(bytes, from, size);
  }

  /**
   * The table that the next frame commits rows to: its number, {@link #NOTHING}, or {@link
   * #SEVERAL} where it belongs to a group or has more than one table.
   */
  int tableOfNext() {
    boolean alone = group.isEmpty() && !isDeferred() && look.tableCount() < 2 && !look.broken();
    if (!alone) {
      return SEVERAL;
    }
    if (look.rows() == 0) {
      return NOTHING;
    }
    int table = tables.of(frame, look.nameAt(), look.nameLength());
    return look.rows() < ROWS_COMMITTED_EARLY ? table : NOTHING;
  }

  /** Whether the next frame belongs to a group that has begun. */
  boolean isInGroup() {
    return !group.isEmpty();
  }

  /** Commits to a table that are on their way. */
  int commitsOf(int table) {
    return table < commitsOf.length ? commitsOf[table] : 0;
  }

  private boolean isDeferred() {
    return MessageHeader.isQwp(frame, offset, length) && MessageHeader.isDeferred(frame, offset);
  }

  /** The frame looked at last is sent. */
  void sent(int millis) {
    sentMillis.add(millis);
    int table = tableOfNext();
    if (table != SEVERAL) {
      commits.add(table);
      addCommit(table, 1);
      return;
    }
    gather();
    if (isDeferred()) {
      commits.add(NOTHING);
    } else {
      endGroup();
    }
  }

  private void addCommit(int table, int difference) {
    if (table >= commitsOf.length) {
      commitsOf = Arrays.copyOf(commitsOf, Math.max(table + 1, 2 * commitsOf.length));
    }
    if (table >= 0) {
      commitsOf[table] += difference;
    }
  }

  /** Adds the tables of the frame to those that wait for a commit. */
  private void gather() {
    if (look.hasOneTable()) {
      gather(tables.of(frame, look.nameAt(), look.nameLength()), look.rows());
    } else if (look.tableCount() > 1) {
      try {
        MessageDecoder decoder = new MessageDecoder(new ConnectionSymbols());
        for (DecodedTable table : decoder.decode(frame, offset, length).tables()) {
          gather(tables.add(table.name()), table.rows());
        }
      } catch (MalformedMessageException e) {
        // It is for the server to refuse; what it would commit cannot be told.
        group.clear();
        unreadable = true;
      }
    }
  }

  private void gather(int table, int rows) {
    if (table >= groupRows.length) {
      groupRows = Arrays.copyOf(groupRows, Math.max(table + 1, 2 * groupRows.length));
    }
    if (rows > 0) {
      group.add(table);
      groupRows[table] += rows;
    }
  }

  private void endGroup() {
    int[] committed =
        group.stream()
            .mapToInt(Integer::intValue)
            .filter(table -> groupRows[table] < ROWS_COMMITTED_EARLY)
            .toArray();
    group.clear();
    Arrays.fill(groupRows, 0);
    if (committed.length == 0) {
      commits.add(NOTHING);
    } else {
      commits.add(SEVERAL);
      several.add(committed);
      for (int table : committed) {
        addCommit(table, 1);
      }
    }
  }

  /** Takes the oldest message out. */
  void removeFirst(Visitor visitor) {
    int what = commits.removeFirst();
    int millis = sentMillis.removeFirst();
    if (what >= 0) {
      addCommit(what, -1);
      visitor.commits(what, millis);
    } else if (what == SEVERAL) {
      for (int table : several.removeFirst()) {
        addCommit(table, -1);
        visitor.commits(table, millis);
      }
    }
  }
}
