package org.questdbsf.slot;

/** When frames of a disk ring are forced to stable storage (option {@code sf_durability}). */
public enum Durability {
  /** Never: frames survive the end of the process, not of the host. */
  MEMORY,
  /** By the keeper, every {@code sf_sync_interval_millis}. */
  PERIODIC,
  /** Whenever the producer calls {@link SegmentRing#force()}. */
  FLUSH
}
