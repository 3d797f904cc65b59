package org.questdbsf.sender;

import org.questdbsf.error.SfException;

/**
 * Told of orphaned slots that a {@link DrainerPool} works on. Called on the pool's thread: must be
 * quick, and must not call back into the pool.
 */
public interface DrainListener {
  /** Does nothing. */
  DrainListener NONE = new DrainListener() {};

  /** A slot was adopted; frames {@code ackedFsn + 1} to {@code publishedFsn} are to be sent. */
  default void started(String slot, long ackedFsn, long publishedFsn) {}

  /** All frames of a slot are acknowledged. */
  default void drained(String slot, long publishedFsn) {}

  /**
   * A slot could not be drained.
   *
   * @param givenUp true if it was marked {@code .failed}; false if it is tried again later
   */
  default void failed(String slot, SfException error, boolean givenUp) {}
}
