package org.questdbsf.sender;

/** What is done about refusals that no key names. Those that may pass are retried by both. */
public enum PolicyDefaults {
  /**
   * The plain sender, after the client spec: frames that do not fit their table are set aside where
   * there is a place for them, and all else that cannot pass or is not known ends the sender, as do
   * a refused credential and six WebSocket close codes, at once.
   */
  ENGINE,
  /**
   * The Spark sink: what cannot pass ends the query, and what is not known is retried; a refused
   * credential is terminal after three rounds, and no close code is by itself.
   */
  SINK
}
