package org.questdbsf.net;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Which frames of a connection are durable (specification, section on durable acknowledgement). An
 * OK does not release its frames: it waits here, in order, until the durable watermark of every
 * table it names has reached the transaction it names. One per connection, one thread.
 *
 * <p>The transactions of a table that OKs name go up. An OK that names a lower one than an OK
 * before it is about a table that counts anew: the old one was dropped, and its watermark says
 * nothing about the new one. A watermark that overtakes an OK counts.
 *
 * <p>Grows with the OKs that wait, of which there are no more than unacknowledged frames, and with
 * the tables that they name.
 */
public final class DurableAckLedger {
  /** Transactions by table; names in lower case. */
  private record Waiting(long sequence, Map<String, Long> tables) {}

  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Map<String, Long> watermarks = new HashMap<>();
  private final Map<String, Long> acknowledged = new HashMap<>(); // last transaction of an OK
  private long covered = -1;

  /**
   * An OK arrived.
   *
   * @param sequence its sequence, of a message that was sent
   * @return the highest sequence that is durable, −1 for none
   */
  public long onOk(long sequence, List<TableTxn> tables) {
    Waiting last = waiting.peekLast();
    if (last != null && sequence <= last.sequence()) {
      // a repetition: whatever it names must be durable too before the frames are released
      tables.forEach(table -> last.tables().merge(fold(table), table.seqTxn(), Math::max));
    } else if (sequence > covered) {
      Map<String, Long> named = new HashMap<>();
      for (TableTxn table : tables) {
        String name = fold(table);
        named.merge(name, table.seqTxn(), Math::max);
        Long before = acknowledged.put(name, table.seqTxn());
        if (before != null && table.seqTxn() < before) {
          watermarks.remove(name);
        }
      }
      waiting.addLast(new Waiting(sequence, named));
    }
    return release();
  }

  private static String fold(TableTxn table) {
    return table.table().toLowerCase(Locale.ROOT);
  }

  /**
   * A durable acknowledgement arrived. Watermarks never go back.
   *
   * @return the highest sequence that is durable, −1 for none
   */
  public long onDurableAck(List<TableTxn> tables) {
    for (TableTxn table : tables) {
      watermarks.merge(fold(table), table.seqTxn(), Math::max);
    }
    return release();
  }

  /** How many OKs wait: while above 0, the connection needs keepalive PINGs. */
  public int waiting() {
    return waiting.size();
  }

  /** The highest sequence that is durable, −1 for none. */
  public long covered() {
    return covered;
  }

  /** A new connection: sequences and watermarks start afresh. */
  public void reset() {
    waiting.clear();
    watermarks.clear();
    acknowledged.clear();
    covered = -1;
  }

  private long release() {
    Waiting head = waiting.peekFirst();
    while (head != null && isDurable(head)) {
      covered = head.sequence();
      waiting.removeFirst();
      head = waiting.peekFirst();
    }
    return covered;
  }

  private boolean isDurable(Waiting ok) {
    return ok.tables().entrySet().stream()
        .allMatch(table -> isDurable(table.getKey(), table.getValue()));
  }

  private boolean isDurable(String table, long transaction) {
    Long watermark = watermarks.get(table);
    return watermark != null && watermark >= transaction;
  }
}
