package org.questdbsf.sender;

/** What {@code initial_connect_retry} says (client spec section 13.4). */
public enum InitialConnect {
  /** Fail after one round over all servers. */
  OFF,
  /** Block and retry within the outage budget. */
  ON,
  /** Return at once and connect in the background. */
  ASYNC
}
