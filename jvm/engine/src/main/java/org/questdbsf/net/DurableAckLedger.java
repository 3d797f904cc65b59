package org.questdbsf.net;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which frames of a connection are durable (specification, section on durable acknowledgement). An
 * OK does not release its frames: it waits here, in order, until the durable watermark of every
 * table it names has reached the transaction it names. One per connection, one thread.
 *
 * <p>Grows with the OKs that wait, of which there are no more than unacknowledged frames.
 */
public final class DurableAckLedger {
  private record Waiting(long sequence, List<TableTxn> tables) {}

  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Map<String, Long> watermarks = new HashMap<>();
  private long covered = -1;

  /**
   * An OK arrived.
   *
   * @param sequence its sequence, already clamped to what was sent
   * @return the highest sequence that is durable, −1 for none
   */
  public long onOk(long sequence, List<TableTxn> tables) {
    Waiting last = waiting.peekLast();
    if (last != null && sequence <= last.sequence()) {
      // a repetition: whatever it names must be durable too before the frames are released
      List<TableTxn> both = new ArrayList<>(last.tables());
      both.addAll(tables);
      waiting.removeLast();
      waiting.addLast(new Waiting(last.sequence(), both));
    } else if (sequence > covered) {
      waiting.addLast(new Waiting(sequence, List.copyOf(tables)));
    }
    return release();
  }

  /**
   * A durable acknowledgement arrived. Watermarks never go back.
   *
   * @return the highest sequence that is durable, −1 for none
   */
  public long onDurableAck(List<TableTxn> tables) {
    for (TableTxn t : tables) {
      watermarks.merge(t.table(), t.seqTxn(), Math::max);
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

  private boolean isDurable(Waiting w) {
    for (TableTxn t : w.tables()) {
      Long watermark = watermarks.get(t.table());
      if (watermark == null || watermark < t.seqTxn()) {
        return false;
      }
    }
    return true;
  }
}
