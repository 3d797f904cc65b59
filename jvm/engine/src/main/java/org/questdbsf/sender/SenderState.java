package org.questdbsf.sender;

import java.time.Instant;

/**
 * How a sender does, for people and dashboards; taken at one moment, from any thread.
 *
 * @param kind the state
 * @param since when this state began
 * @param cause what happened last that was not right, or null
 * @param host {@code host:port} of the server connected, or tried last; null before the first
 * @param attempts attempts to connect since the connection was lost; 0 while connected
 */
public record SenderState(Kind kind, Instant since, String cause, String host, int attempts) {
  /** From best to worst. */
  public enum Kind {
    /** Connected, or nothing was to be sent yet. */
    OK,
    /** Connected; the producer waits for room in the ring. */
    BACKPRESSURE,
    /** Connected; frames were sent, and none has been acknowledged for 5 seconds or more. */
    UNANSWERED,
    /**
     * The server refuses a frame that is sent again and again, or ends each connection after it.
     */
    REJECTING,
    /** Not connected; trying. */
    RECONNECTING,
    /** Ended by a terminal error. */
    FAILED
  }
}
