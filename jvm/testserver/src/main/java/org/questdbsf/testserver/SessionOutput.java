package org.questdbsf.testserver;

/**
 * What a {@link Session} does to its connection. Any thread; effects come in order of the calls.
 */
interface SessionOutput {
  /** Instead of a close code: the stream ends without a close frame. */
  int NO_FRAME = -1;

  /**
   * Sends an acknowledgement or error reply, later if the script delays them.
   *
   * @param acked what it acknowledges, for the counters
   */
  void reply(byte[] bytes, Tally acked);

  /** Answers a PING, never delayed. */
  void pong(byte[] payload);

  /** Ends the connection behind all replies, with a close frame or {@link #NO_FRAME}. */
  void close(int code, String reason);

  /** Resets the TCP connection at once; replies that still wait are lost. */
  void reset();

  /** Takes more messages, or lets them wait in the socket. */
  void reading(boolean on);
}
