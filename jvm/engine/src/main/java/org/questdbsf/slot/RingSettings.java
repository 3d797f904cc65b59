package org.questdbsf.slot;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * What a ring needs to know.
 *
 * @param segmentBytes size of each new segment, {@value #MIN_SEGMENT_BYTES} to {@value
 *     #MAX_SEGMENT_BYTES}; recovered segments keep the size they have
 * @param durability when frames are forced; a memory ring ignores it
 * @param syncIntervalMillis pause between two forces with {@link Durability#PERIODIC}, above 0
 * @param minFreeBytes no segment file is made that would leave less than this free on the file
 *     system, 0 or more
 */
public record RingSettings(
    long segmentBytes, Durability durability, long syncIntervalMillis, long minFreeBytes) {

  /** The smallest segment: a page, so that header and one useful frame fit. */
  public static final int MIN_SEGMENT_BYTES = 4096;

  /** The largest segment: offsets inside a segment are ints. */
  public static final int MAX_SEGMENT_BYTES = 1 << 30;

  /**
   * @throws SfException {@link ErrorCode#CONFIG_INVALID_VALUE} for a value out of range
   */
  public RingSettings {
    if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes > MAX_SEGMENT_BYTES) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "sf_max_segment_bytes="
              + segmentBytes
              + " is out of range; give a size from "
              + MIN_SEGMENT_BYTES
              + " to "
              + MAX_SEGMENT_BYTES);
    }
    if (syncIntervalMillis <= 0) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "sf_sync_interval_millis=" + syncIntervalMillis + " is out of range; give 1 or more");
    }
    if (minFreeBytes < 0) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "sf_min_free_bytes=" + minFreeBytes + " is out of range; give 0 or more");
    }
  }
}
