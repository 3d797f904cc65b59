package org.questdbsf.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Five counters in a file of the database root, written with one call after every commit and before
 * every acknowledgement.
 *
 * <p>What was written is the kernel's, so a SIGKILL of the process loses nothing; like the engine's
 * own commits it is not forced, so a power cut may. A process that is killed between a commit and
 * the write has counted at most one message a connection too few, never one too many. A write that
 * fails is made up for by the next one that does not.
 */
final class CounterFile implements AutoCloseable {
  static final String NAME = "qwp-counters.bin";

  private static final Logger LOG = LoggerFactory.getLogger(CounterFile.class);

  private static final int BYTES = 5 * Long.BYTES;

  private final FileChannel file;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
  private final long rowsUnackedAtLastStop;
  private final TableCounterFile tables;

  private long messagesReceived;
  private long rowsReceived;
  private long messagesAcked;
  private long rowsAcked;
  private long rowsUnacked;
  private boolean stopping;

  CounterFile(Path root) {
    try {
      file =
          FileChannel.open(
              root.resolve(NAME),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      if (file.read(buffer, 0) == BYTES) {
        buffer.flip();
        messagesReceived = buffer.getLong();
        rowsReceived = buffer.getLong();
        messagesAcked = buffer.getLong();
        rowsAcked = buffer.getLong();
        rowsUnacked = buffer.getLong();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("counters in root " + root, e);
    }
    tables = new TableCounterFile(root);
    rowsUnackedAtLastStop = rowsUnacked;
    rowsUnacked = 0;
  }

  synchronized void received(Tally tally) {
    messagesReceived += tally.messages();
    rowsReceived += tally.rows();
    rowsUnacked += tally.rows();
    write();
    tables.received(tally);
  }

  synchronized void acked(Tally tally) {
    messagesAcked += tally.messages();
    rowsAcked += tally.rows();
    rowsUnacked -= tally.rows();
    write();
    tables.acked(tally);
  }

  /** A connection ended: what it had not acknowledged is no longer owed to anyone. */
  synchronized void abandoned(long rows) {
    if (rows != 0 && !stopping) {
      rowsUnacked -= rows;
      write();
    }
  }

  /** Rows received and acknowledged by table; durable. */
  synchronized Map<String, TableCounterFile.Rows> tables() {
    return tables.rows();
  }

  /** Puts the durable counters into those of the process. */
  synchronized Counters complete(Counters process) {
    return new Counters(
        process.connections(),
        process.connectionsTotal(),
        messagesReceived,
        rowsReceived,
        messagesAcked,
        rowsAcked,
        rowsUnacked,
        rowsUnackedAtLastStop,
        process.nacks(),
        process.pings(),
        process.upgradesRefused());
  }

  /** From now on a connection's end leaves the unacknowledged rows as they are, for the record. */
  synchronized void stopping() {
    stopping = true;
  }

  private void write() {
    buffer.clear();
    buffer.putLong(messagesReceived);
    buffer.putLong(rowsReceived);
    buffer.putLong(messagesAcked);
    buffer.putLong(rowsAcked);
    buffer.putLong(rowsUnacked);
    buffer.flip();
    try {
      file.write(buffer, 0);
    } catch (IOException e) {
      // On a full disk it is the engine that refuses rows, in words; the next write catches up.
      LOG.warn("counters: the file is behind: {}", e.toString());
    }
  }

  @Override
  public synchronized void close() {
    tables.close();
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("counters", e);
    }
  }
}
