package org.questdbsf.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows received and acknowledged by table, in a file of the database root beside {@link
 * CounterFile}, with the same promise: what is written survives a SIGKILL. One record a table:
 * length and bytes of its name, rows received, rows acknowledged. Guarded by its owner.
 */
final class TableCounterFile implements AutoCloseable {
  static final String NAME = "qwp-table-counters.bin";

  private static final Logger LOG = LoggerFactory.getLogger(TableCounterFile.class);

  private static final int NAME_BYTES = 142;
  private static final int RECORD_BYTES = Short.BYTES + NAME_BYTES + 2 * Long.BYTES;

  /** Rows of one table. */
  record Rows(long received, long acked) {}

  private static final class Entry {
    final long offset;
    long received;
    long acked;

    Entry(long offset) {
      this.offset = offset;
    }
  }

  private final FileChannel file;
  private final ByteBuffer buffer = ByteBuffer.allocate(RECORD_BYTES);
  private final Map<String, Entry> tables = new LinkedHashMap<>();

  TableCounterFile(Path root) {
    try {
      file =
          FileChannel.open(
              root.resolve(NAME),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      while (file.read(buffer, (long) tables.size() * RECORD_BYTES) == RECORD_BYTES) {
        buffer.flip();
        byte[] name = new byte[buffer.getShort()];
        buffer.get(name).position(Short.BYTES + NAME_BYTES);
        Entry entry = entry(new String(name, StandardCharsets.UTF_8));
        entry.received = buffer.getLong();
        entry.acked = buffer.getLong();
        buffer.clear();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("table counters in root " + root, e);
    }
  }

  void received(Tally tally) {
    tally.rowsByTable().forEach((table, rows) -> write(table, rows, 0));
  }

  void acked(Tally tally) {
    tally.rowsByTable().forEach((table, rows) -> write(table, 0, rows));
  }

  Map<String, Rows> rows() {
    Map<String, Rows> copy = new LinkedHashMap<>();
    tables.forEach((table, entry) -> copy.put(table, new Rows(entry.received, entry.acked)));
    return copy;
  }

  private Entry entry(String table) {
    return tables.computeIfAbsent(table, t -> new Entry((long) tables.size() * RECORD_BYTES));
  }

  private void write(String table, long received, long acked) {
    Entry entry = entry(table);
    entry.received += received;
    entry.acked += acked;
    byte[] name = table.getBytes(StandardCharsets.UTF_8);
    buffer.clear();
    buffer.putShort((short) name.length).put(name).position(Short.BYTES + NAME_BYTES);
    buffer.putLong(entry.received).putLong(entry.acked).flip();
    try {
      file.write(buffer, entry.offset);
    } catch (IOException e) {
      LOG.warn("table counters: the file is behind for '{}': {}", table, e.toString());
    }
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("table counters", e);
    }
  }
}
