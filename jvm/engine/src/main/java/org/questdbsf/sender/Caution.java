package org.questdbsf.sender;

/**
 * Sends one frame at a time up to a suspect, so that a refusal can only mean the frame it names. A
 * unit is a frame, or a whole deferred group, of which the server acknowledges only the end. Loop's
 * thread only.
 */
final class Caution {
  private static final long NONE = -1;

  private final ReplayPlan plan;
  private long suspect = NONE;

  Caution(ReplayPlan plan) {
    this.plan = plan;
  }

  /** Be careful until everything up to the last frame of the suspect's unit is settled. */
  void upTo(long lastFsn) {
    suspect = Math.max(suspect, lastFsn);
  }

  /** Frames up to here were accepted or given up. */
  void settled(long fsn) {
    if (fsn >= suspect) {
      suspect = NONE;
    }
  }

  /**
   * Whether a frame may be sent now.
   *
   * @param fsn the next frame
   * @param okFsn the last frame an OK reached on this connection
   * @param ackedFsn the last frame that needs not be sent again
   */
  boolean maySend(long fsn, long okFsn, long ackedFsn) {
    if (suspect == NONE) {
      return true;
    }
    ReplayPlan.Unit unit = plan.unitOf(fsn);
    if (fsn > unit.first()) {
      return true;
    }
    // In durable mode an OK is not yet an acknowledgement: the suspect waits for that.
    return unit.contains(suspect) ? ackedFsn >= fsn - 1 : okFsn >= fsn - 1;
  }
}
