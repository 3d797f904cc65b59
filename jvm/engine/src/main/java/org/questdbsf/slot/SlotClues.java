package org.questdbsf.slot;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.questdbsf.slot.SlotWitness.Testimony;

/**
 * What is beside the segments of a slot.
 *
 * @param watermark FSN in the watermark file, empty when it holds none
 * @param witness what {@code .witness} says, empty when it says nothing
 * @param ours whether this engine made the slot, which a {@code .target} shows also where an
 *     earlier version wrote no witness. It never leaves a gap at the front
 * @param setAside names of segments that another client set aside as damaged
 */
record SlotClues(
    OptionalLong watermark, Optional<Testimony> witness, boolean ours, List<String> setAside) {

  /** Up to here frames may be missing at the end: somebody says that they were acknowledged. */
  long released() {
    return Math.max(watermark.orElse(-1), witness.isPresent() ? byWitness() : -1);
  }

  /**
   * Up to here frames need not be sent: the lower of the two, as sending again is safe. A witness
   * without a watermark may speak of frames that had these FSNs before.
   */
  long acked() {
    long byWatermark = watermark.orElse(-1);
    return witness.isPresent() ? Math.min(byWatermark, byWitness()) : byWatermark;
  }

  /**
   * Whether a client that knows no witness emptied the slot since, and left it behind. Others
   * delete the watermark of a slot that they emptied and begin with a new one, if any, while ours
   * is forced before the first frame and always written before the witness.
   *
   * <p>A power cut may keep the newer witness and lose the newer watermark, as neither is forced
   * when it is written. So after one a lower watermark says nothing, and what was forced must be
   * there. A slot that another client emptied is not refused by that: it has no watermark, which no
   * power cut takes. One that it began anew is, until it is emptied, repaired, or holds as many
   * frames as were forced.
   */
  boolean witnessIsStale() {
    if (witness.isEmpty() || watermark.isEmpty()) {
      return witness.isPresent();
    }
    return witness.get().sameBoot() && watermark.getAsLong() < byWitness();
  }

  /** What is wrong with a watermark that is below the witness. */
  String watermarkFault() {
    return watermark.isEmpty() ? "missing" : "below what " + SlotWitness.FILE + " says";
  }

  private long byWitness() {
    return witness.get().marks().acked();
  }
}
