package org.questdbsf.slot;

import java.util.List;

/**
 * What recovery found in a slot.
 *
 * @param baseFsn FSN of the oldest frame, −1 when the slot is empty
 * @param publishedFsn FSN of the newest frame, −1 when the slot is empty
 * @param ackedFsn highest acknowledged FSN, −1 when there is none
 * @param tornBytes bytes behind the last good frame, where any of them was not zero
 * @param notes what was set aside or put right, a sentence each
 */
public record RecoveryReport(
    String slot,
    Verdict verdict,
    long baseFsn,
    long publishedFsn,
    long ackedFsn,
    long tornBytes,
    List<SegmentReport> segments,
    List<String> notes) {

  /** The state a slot was in. A refused slot is never opened, so no report says so. */
  public enum Verdict {
    CLEAN,
    TORN
  }

  /**
   * One segment file.
   *
   * @param validEnd offset behind the last good frame
   */
  public record SegmentReport(
      String file, long baseFsn, long frames, long validEnd, long tornBytes) {}
}
