package org.questdbsf.spark;

import java.util.EnumMap;
import java.util.Map;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.ConfigPreset;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.TableSpec;

/** Makes the engine's settings out of the sink's options. */
final class SenderSettings {
  private static final long MEBI = 1L << 20;
  private static final long MAX_DERIVED_SEGMENT = 4 * MEBI;
  private static final long MIN_DERIVED_SEGMENT = 64 << 10;
  private static final long PAGE = 4096;
  private static final long MEMORY_TOTAL = 128 * MEBI;
  private static final long STORE_TOTAL = 10 * 1024 * MEBI;
  private static final int BATCH_OUTAGE_MILLIS = 300_000;

  private SenderSettings() {}

  /**
   * Settings of one lane.
   *
   * @param streaming whether the outage budget is a stream's (none) or a batch write's
   * @param senderId family of the slots; not used in memory
   * @param lanes how many lanes share the budget
   * @throws SfException CONFIG_*: among others, segments that do not fit the budget
   */
  static SenderConfig of(SfOptions options, boolean streaming, String senderId, int lanes) {
    Map<ConnectKey, String> keys = new EnumMap<>(options.connectKeys());
    keys.put(ConnectKey.INITIAL_CONNECT_RETRY, "async");
    keys.put(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0"); // lanes are closed when drained
    keys.put(ConnectKey.REQUEST_DURABLE_ACK, options.commitOn() == CommitOn.DURABLE ? "on" : "off");
    if (!streaming) {
      keys.putIfAbsent(
          ConnectKey.RECONNECT_MAX_DURATION_MILLIS, Integer.toString(BATCH_OUTAGE_MILLIS));
    }
    long total = options.number(SfOption.SF_MAX_TOTAL_BYTES).orElseGet(() -> defaultTotal(options));
    keys.put(ConnectKey.SF_MAX_TOTAL_BYTES, Long.toString(total));
    keys.put(ConnectKey.SF_MAX_SEGMENT_BYTES, Long.toString(segmentBytes(options, total, lanes)));
    if (options.commitOn().onDisk()) {
      keys.put(ConnectKey.SENDER_ID, senderId);
    } else {
      forgetSlots(keys);
    }
    return SenderConfig.of(keys, ConfigPreset.SINK);
  }

  /**
   * Settings of the adopter, which works on slots whatever the stream itself does.
   *
   * @param senderId the family that counts as own
   */
  static SenderConfig ofAdopter(SfOptions options, String senderId, int lanes) {
    SenderConfig lane = of(options, true, senderId, lanes);
    Map<ConnectKey, String> keys = new EnumMap<>(lane.asMap());
    Map<ConnectKey, String> given = options.connectKeys();
    keys.put(ConnectKey.SF_DIR, given.get(ConnectKey.SF_DIR));
    keys.put(ConnectKey.SENDER_ID, senderId);
    keys.put(ConnectKey.DRAIN_ORPHANS, options.word(SfOption.DRAIN_ORPHANS));
    keys.put(ConnectKey.RECONNECT_MAX_DURATION_MILLIS, "0");
    String target = given.get(ConnectKey.TARGET_ID);
    if (target != null) {
      keys.put(ConnectKey.TARGET_ID, target);
    }
    return SenderConfig.of(keys, ConfigPreset.SINK);
  }

  private static void forgetSlots(Map<ConnectKey, String> keys) {
    keys.remove(ConnectKey.SF_DIR);
    keys.remove(ConnectKey.SENDER_ID);
    keys.remove(ConnectKey.TARGET_ID);
    keys.remove(ConnectKey.DRAIN_ORPHANS);
  }

  private static long defaultTotal(SfOptions options) {
    return options.commitOn().onDisk() ? STORE_TOTAL : MEMORY_TOTAL;
  }

  private static long segmentBytes(SfOptions options, long total, int lanes) {
    if (options.isSet(SfOption.SF_MAX_SEGMENT_BYTES)) {
      long set = options.number(SfOption.SF_MAX_SEGMENT_BYTES).orElseThrow();
      if (set > total / 2 / lanes) {
        throw OptionRules.conflict(
            "sf_max_segment_bytes="
                + set
                + " times 2 segments times "
                + lanes
                + " lanes (max_lanes) is "
                + 2 * lanes * set
                + ", above sf_max_total_bytes="
                + total
                + "; leave the segment size out, or set it to at most "
                + total / 2 / lanes
                + ".");
      }
      return set;
    }
    long derived = Math.min(MAX_DERIVED_SEGMENT, total / 2 / (2L * lanes) / PAGE * PAGE);
    if (derived < MIN_DERIVED_SEGMENT) {
      throw OptionRules.conflict(
          "sf_max_total_bytes="
              + total
              + " is too small: half of it over 2 segments times "
              + lanes
              + " lanes (max_lanes) is "
              + derived
              + " bytes a segment, and at least "
              + MIN_DERIVED_SEGMENT
              + " are needed; raise it to "
              + MIN_DERIVED_SEGMENT * 4 * lanes
              + " or lower max_lanes.");
    }
    return derived;
  }

  /** What a table must be for these rows. */
  static TableSpec table(SfOptions options, RowPlan plan, String table, OnMissingTable onMissing) {
    TableSpec.Builder spec = TableSpec.builder(table);
    for (ColumnPlan column : plan.columns()) {
      spec.column(column.name(), column.target().type(), column.target().ddl());
    }
    if (plan.designated() != null) {
      spec.designated(plan.designated().name(), plan.designated().target().type());
    } else if (onMissing == OnMissingTable.CREATE) {
      spec.designated("timestamp", QwpType.TIMESTAMP); // the server's own name for it
    }
    if (onMissing == OnMissingTable.CREATE) {
      spec.partitionBy(options.word(SfOption.PARTITION_BY))
          .ttl(options.text(SfOption.TTL).orElse(null))
          .dedupKeys(options.list(SfOption.DEDUP_KEYS));
    }
    return spec.requireDedup(options.on(SfOption.REQUIRE_DEDUP))
        .updateKeys(options.list(SfOption.UPDATE_KEYS))
        .onMissing(onMissing)
        .build();
  }
}
