package org.questdbsf.testserver;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** What one port counted since this process began; rows and messages go to the file as well. */
final class PortCounters {
  final AtomicLong connections = new AtomicLong();
  final AtomicLong connectionsTotal = new AtomicLong();
  final AtomicLong nacks = new AtomicLong();
  final AtomicLong pings = new AtomicLong();
  final AtomicLong upgradesRefused = new AtomicLong();

  private final AtomicLong messagesReceived = new AtomicLong();
  private final AtomicLong rowsReceived = new AtomicLong();
  private final AtomicLong messagesAcked = new AtomicLong();
  private final AtomicLong rowsAcked = new AtomicLong();
  private final AtomicLong rowsUnacked = new AtomicLong();
  private final CounterFile file;

  PortCounters(CounterFile file) {
    this.file = file;
  }

  /** Messages that were committed. */
  void received(Tally tally) {
    messagesReceived.addAndGet(tally.messages());
    rowsReceived.addAndGet(tally.rows());
    rowsUnacked.addAndGet(tally.rows());
    file.received(tally);
  }

  /** Messages whose acknowledgement is about to be written. */
  void acked(Tally tally) {
    messagesAcked.addAndGet(tally.messages());
    rowsAcked.addAndGet(tally.rows());
    rowsUnacked.addAndGet(-tally.rows());
    file.acked(tally);
  }

  /** Rows of a connection that ended before they were acknowledged. */
  void abandoned(long rows) {
    rowsUnacked.addAndGet(-rows);
    file.abandoned(rows);
  }

  Counters snapshot() {
    return new Counters(
        connections.get(),
        connectionsTotal.get(),
        messagesReceived.get(),
        rowsReceived.get(),
        messagesAcked.get(),
        rowsAcked.get(),
        rowsUnacked.get(),
        0,
        nacks.get(),
        pings.get(),
        upgradesRefused.get());
  }

  /** All ports together, with what is durable from the file. */
  static Counters total(CounterFile file, List<PortCounters> ports) {
    PortCounters sum = new PortCounters(file);
    for (PortCounters port : ports) {
      sum.connections.addAndGet(port.connections.get());
      sum.connectionsTotal.addAndGet(port.connectionsTotal.get());
      sum.nacks.addAndGet(port.nacks.get());
      sum.pings.addAndGet(port.pings.get());
      sum.upgradesRefused.addAndGet(port.upgradesRefused.get());
    }
    return file.complete(sum.snapshot());
  }
}
