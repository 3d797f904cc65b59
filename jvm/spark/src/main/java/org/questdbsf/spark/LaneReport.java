package org.questdbsf.spark;

import java.io.Serializable;

/**
 * How far one lane is, as a task saw it at its commit.
 *
 * @param slot directory of the slot, or the lane's name in memory
 * @param incarnation tells apart lanes that used the same slot one after the other
 * @param publishedFsn newest frame in the ring, −1 for none
 * @param ackedFsn newest acknowledged frame, −1 for none
 * @param unackedBytes bytes of the frames that wait for acknowledgement
 * @param oldestUnackedMillis age of the oldest frame that waits, 0 for none
 */
record LaneReport(
    String slot,
    long incarnation,
    long publishedFsn,
    long ackedFsn,
    long unackedBytes,
    long oldestUnackedMillis)
    implements Serializable {

  /** Frames that wait for acknowledgement. */
  long unackedFrames() {
    return publishedFsn - ackedFsn;
  }
}
