package org.questdbsf.slot;

/**
 * How far a ring is, as its slot keeps it on disk.
 *
 * @param acked highest acknowledged FSN, −1 for none
 * @param head base FSN of the oldest segment that is still needed; above {@code written} where none
 *     is
 * @param written highest FSN known to be in a segment, −1 for none
 * @param forced highest FSN known to be on stable storage, −1 for none
 */
record Marks(long acked, long head, long written, long forced) {
  /** Those of a slot that never held a frame. */
  static final Marks EMPTY = new Marks(-1, 0, -1, -1);
}
