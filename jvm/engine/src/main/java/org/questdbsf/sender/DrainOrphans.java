package org.questdbsf.sender;

/** Whose slots are adopted: what {@code drain_orphans} says. */
public enum DrainOrphans {
  /** None. */
  OFF,
  /** Those whose name is the own sender_id, or begins with it and a hyphen. */
  OWN,
  /** All in sf_dir. */
  ALL
}
