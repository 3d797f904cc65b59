package org.questdbsf.testserver;

/**
 * Ends a connection right after it committed its n-th message: what was acknowledged before stays
 * so, the rest stays unacknowledged.
 *
 * @param code WebSocket close code to send, or 0 to drop the TCP connection without a word (RST)
 * @param reason text of the close frame, or null
 * @param afterMessages n, counted per connection, dictionary and commit messages too; 0: right
 *     after the upgrade, and connections that are open already at once
 * @param times how many connections are ended; null: every one
 */
public record CutRule(int code, String reason, long afterMessages, Integer times) {

  /** Sends a close frame to the next connection after that many messages. */
  public static CutRule close(int code, String reason, long afterMessages) {
    return new CutRule(code, reason, afterMessages, 1);
  }

  /** Resets the next connection after that many messages. */
  public static CutRule drop(long afterMessages) {
    return new CutRule(0, null, afterMessages, 1);
  }
}
