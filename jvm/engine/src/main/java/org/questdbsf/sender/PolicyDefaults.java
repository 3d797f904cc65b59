package org.questdbsf.sender;

/** Which policies hold for categories that no key names. */
public enum PolicyDefaults {
  /**
   * The client spec: schema and write errors are dropped, all others halt; a refused credential and
   * six WebSocket close codes are terminal at once.
   */
  ENGINE,
  /**
   * The Spark sink: schema, parse and security errors halt, all others are retried for ever; a
   * refused credential is terminal after three rounds, and no close code is by itself.
   */
  SINK
}
