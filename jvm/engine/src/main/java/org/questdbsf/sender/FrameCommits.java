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

  private static final int NOTHING = -1;
  private static final int SEVERAL = -2;

  /** Servers commit so many rows of a table at once, whatever the frame says, and name nothing. */
  private static final int ROWS_COMMITTED_EARLY = 1_000_000;

  private final FrameLook look = new FrameLook();
  private final IntQueue commits = new IntQueue();
  private final IntQueue sentMillis = new IntQueue();
  private final ArrayDeque<int[]> several = new ArrayDeque<>();
  private final Set<Integer> group = new TreeSet<>();
  private TableNumbers tables = new TableNumbers();
  private long[] groupRows = new long[16];

  /** A new connection. */
  void begin() {
    commits.clear();
    sentMillis.clear();
    several.clear();
    group.clear();
    Arrays.fill(groupRows, 0);
    tables = new TableNumbers();
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

  /** A frame is sent; to be called before its bytes are masked. */
  void sent(byte[] frame, int offset, int length, int millis) {
    look.read(frame, offset, length);
    sentMillis.add(millis);
    boolean deferred =
        MessageHeader.isQwp(frame, offset, length) && MessageHeader.isDeferred(frame, offset);
    if (!deferred && group.isEmpty() && look.hasOneTable()) {
      boolean says = look.rows() > 0 && look.rows() < ROWS_COMMITTED_EARLY;
      commits.add(says ? tables.of(frame, look.nameAt(), look.nameLength()) : NOTHING);
      return;
    }
    gather(frame, offset, length);
    if (deferred) {
      commits.add(NOTHING);
    } else {
      endGroup();
    }
  }

  /** Adds the tables of a frame to those that wait for a commit. */
  private void gather(byte[] frame, int offset, int length) {
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
    }
  }

  /** Takes the oldest message out. */
  void removeFirst(Visitor visitor) {
    int what = commits.removeFirst();
    int millis = sentMillis.removeFirst();
    if (what >= 0) {
      visitor.commits(what, millis);
    } else if (what == SEVERAL) {
      for (int table : several.removeFirst()) {
        visitor.commits(table, millis);
      }
    }
  }
}
