package org.questdbsf.slot;

import java.util.List;

/**
 * What recovery found in a slot. A slot that is refused is not opened, so there is no report of
 * one: the exception says why.
 *
 * @param slot the slot's name
 * @param verdict whether the last write was cut off
 * @param baseFsn FSN of the oldest frame, −1 when the slot holds none
 * @param publishedFsn FSN of the newest frame, −1 when there never was one
 * @param ackedFsn highest acknowledged FSN, −1 when there is none
 * @param frames frames found, acknowledged ones in the same segments included
 * @param tornBytes bytes behind the last good frame, where any of them was not zero
 * @param missing frames that the slot is opened without, and nobody knows whether they arrived
 * @param segments the segments that hold frames, by FSN
 * @param notes what was set aside or put right, a clause each
 */
public record RecoveryReport(
    String slot,
    Verdict verdict,
    long baseFsn,
    long publishedFsn,
    long ackedFsn,
    long frames,
    long tornBytes,
    List<Missing> missing,
    List<SegmentReport> segments,
    List<String> notes) {

  /** The state a slot was in. */
  public enum Verdict {
    /** Nothing but whole frames. */
    CLEAN,
    /** The last write was cut off: the frames before it are kept. */
    TORN
  }

  /**
   * Frames that are not there.
   *
   * @param why a clause for people
   */
  public record Missing(long fromFsn, long toFsn, String why) {
    @Override
    public String toString() {
      return "frames " + fromFsn + " to " + toFsn + " " + why;
    }
  }

  /**
   * One segment file.
   *
   * @param file its name
   * @param baseFsn FSN of its first frame
   * @param frames whole frames
   * @param validEnd offset behind the last of them
   * @param tornBytes bytes from there to the end of the file where any is not zero, else 0
   */
  public record SegmentReport(
      String file, long baseFsn, long frames, long validEnd, long tornBytes) {}
}
