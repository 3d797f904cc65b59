package org.questdbsf.net;

/**
 * What a {@link QwpConnection} reports. All calls come from one event-loop thread that other
 * connections share: an implementation only enqueues, never blocks, never throws.
 *
 * <p>Calls may come before {@link QwpConnection#open} has returned (a server may close at once). If
 * {@code open} throws, none ever comes.
 */
public interface ConnectionEvents {

  /**
   * A reply of the server, in the order of arrival. Nothing more is read while many bytes of
   * replies wait for {@link QwpConnection#taken}.
   *
   * @param bytes its size, for {@link QwpConnection#taken}
   */
  void onReply(ServerReply reply, int bytes);

  /** The connection is gone; called exactly once, and nothing is called after it. */
  void onClosed(CloseInfo info);

  /**
   * {@link QwpConnection#isWritable()} may have become true again. Every change from false to true
   * is reported after the fact; some reports may be superfluous.
   */
  void onWritable();
}
