package org.questdbsf.sender;

import java.io.IOException;

/**
 * Keeps frames that are about to be dropped. A frame is dropped only after {@link #store} returned:
 * the bytes and the reason are then on stable storage. Called on the send loop's thread.
 */
public interface DeadLetterSink {
  /**
   * Writes a frame and why it was refused, and forces both.
   *
   * @param slot name of the slot or lane
   * @param fsn FSN of the frame
   * @param frame one QWP message; not kept after the call
   * @param error what the server said
   * @return where it is kept, for people
   * @throws IOException if it is not on stable storage: the frame must not be dropped
   */
  String store(String slot, long fsn, byte[] frame, SenderError error) throws IOException;
}
