package org.questdbsf.sender;

/** What is done about a refused frame. */
public enum Policy {
  /** The sender stops for good; the frame and what follows it stay where they are. */
  HALT,
  /** The frame is kept as a dead letter, then given up, and the next one is sent. */
  DROP,
  /** The frame is sent again on a new connection, paced, while there is hope that it is taken. */
  RETRY,
  /** As {@link #RETRY}, but at another host: it is the host that refuses. */
  RETRY_OTHER
}
