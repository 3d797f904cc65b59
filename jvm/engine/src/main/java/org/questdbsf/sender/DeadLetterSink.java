package org.questdbsf.sender;

import java.io.IOException;

/**
 * Keeps frames that are about to be dropped, and rows that fit no frame. They are dropped only
 * after {@link #store} returned: the bytes and the reason are then on stable storage. Called on the
 * send loop's thread, for rows on the producer's.
 */
public interface DeadLetterSink {
  /** In place of an FSN: a row that was never in a frame. */
  long NO_FRAME = -1;

  /**
   * Writes a frame and why it was refused, and forces both.
   *
   * @param slot name of the slot or lane
   * @param fsn FSN of the frame, which may come again after a crash; or {@link #NO_FRAME}, and each
   *     is to be kept, equal to another or not
   * @param frame one QWP message; not kept after the call
   * @param error why it is dropped
   * @return where it is kept, for people
   * @throws IOException if it is not on stable storage: the frame must not be dropped
   */
  String store(String slot, long fsn, byte[] frame, SenderError error) throws IOException;
}
