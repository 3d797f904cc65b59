package org.questdbsf.sender;

/** Which column of defaults in {@link ConnectKey} applies to keys that were not set. */
public enum ConfigPreset {
  /** The plain {@link Sender}: the defaults of the client spec. */
  ENGINE,
  /** The Spark sink: waits for ever, forces on commit, adopts its own orphans. */
  SINK
}
