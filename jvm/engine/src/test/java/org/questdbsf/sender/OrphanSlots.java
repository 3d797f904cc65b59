package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;

/** Real slots, a real server, and pools that adopt the ones for the other. */
abstract class OrphanSlots extends WithTestServer {
  static final int ROWS = 10;

  @TempDir Path dir;
  private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
  final DrainListener listener =
      new DrainListener() {
        @Override
        public void started(String slot, long ackedFsn, long publishedFsn) {
          events.add("started " + slot);
        }

        @Override
        public void drained(String slot, long publishedFsn) {
          events.add("drained " + slot);
        }

        @Override
        public void failed(String slot, SfException error, boolean givenUp) {
          events.add((givenUp ? "given up " : "later ") + slot + " " + error.getMessage());
        }
      };

  SenderConfig config(ConfigPreset preset, String address, String... more) {
    Map<ConnectKey, String> keys = new EnumMap<>(ConnectKey.class);
    keys.put(ConnectKey.ADDR, address);
    keys.put(ConnectKey.SF_DIR, dir.toString());
    keys.put(ConnectKey.SENDER_ID, "app");
    keys.put(ConnectKey.SF_MAX_SEGMENT_BYTES, "64k");
    keys.put(ConnectKey.SF_MAX_TOTAL_BYTES, "1m");
    keys.put(ConnectKey.SF_MIN_FREE_BYTES, "0");
    keys.put(ConnectKey.DRAIN_ORPHANS, "own");
    keys.put(ConnectKey.INITIAL_CONNECT_RETRY, "async");
    keys.put(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0");
    for (int i = 0; i < more.length; i += 2) {
      keys.put(ConnectKey.named(more[i]).orElseThrow(), more[i + 1]);
    }
    return SenderConfig.of(keys, preset);
  }

  static String address() {
    return "127.0.0.1:" + server.port();
  }

  SlotTarget own(TableSpec... tables) {
    return SlotTarget.of(config(ConfigPreset.SINK, address()), List.of(tables), "test");
  }

  /** A slot with frames that nobody sent, as a process leaves it that ended in an outage. */
  void orphan(String name, SlotTarget target) throws Exception {
    SenderConfig away = config(ConfigPreset.SINK, "127.0.0.1:1");
    try (Sender sender = Sender.builder(away).freshSlot(open(name, away)).target(target).build()) {
      for (int i = 0; i < ROWS; i++) {
        sender.table(table).symbol("slot", name).longColumn("n", i).at(i, ChronoUnit.SECONDS);
        sender.flush();
      }
    }
  }

  Slot open(String name, SenderConfig config) throws InterruptedException {
    return Slot.open(
        dir,
        name,
        config.ringSettings(),
        new SegmentBudget(config.totalBytes()).open(config.segmentBytes()),
        SegmentKeeper.shared(),
        DiskIo.PRODUCTION);
  }

  DrainerPool pool(SenderConfig config) {
    SlotTarget own = SlotTarget.of(config, List.of(), "adopter");
    return DrainerPool.builder(config, own).listener(listener).scanMillis(50).start();
  }

  DrainerPool pool(String... more) {
    return pool(config(ConfigPreset.SINK, address(), more));
  }

  String event(String prefix) throws InterruptedException {
    List<String> seen = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (true) {
      String event = events.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      assertTrue(event != null, "no event '" + prefix + "', but " + seen);
      if (event.startsWith(prefix)) {
        return event;
      }
      seen.add(event);
    }
  }

  static void await(BooleanSupplier holds) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "not in time");
      Thread.sleep(10);
    }
  }

  SlotInfo info(String name) {
    return SlotDirectory.inspect(dir, name, DiskIo.PRODUCTION);
  }

  /** Acknowledged rows become visible a moment later: waited for, slot by slot. */
  void assertRows(String... slots) throws InterruptedException {
    for (String slot : slots) {
      server.awaitRows(table, 1); // the table is there
      await(() -> distinctRows(slot) >= ROWS);
      assertEquals(ROWS, distinctRows(slot), slot);
    }
  }

  private long distinctRows(String slot) {
    String query = "SELECT count_distinct(n) FROM " + table + " WHERE slot='" + slot + "'";
    return (long) server.query(query).get(0)[0];
  }

  boolean tableIsThere() {
    return !server.query("SELECT 1 FROM tables() WHERE table_name='" + table + "'").isEmpty();
  }
}
