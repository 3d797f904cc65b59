package org.questdbsf.sender;

import java.util.Optional;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@code .target} of a sender's own slot: says where the frames belong, and remembers the
 * smallest batch cap of a server, so that the next owner writes no frame that is too large.
 */
final class SlotNote {
  private static final Logger LOG = LoggerFactory.getLogger(SlotNote.class);

  private final Slot slot;
  private final SlotTarget target;

  /**
   * Writes the note; before the first frame. Frames that are there already keep the target they
   * were written for, also when somebody else sends them.
   */
  SlotNote(Slot slot, SlotTarget target) {
    this.slot = slot;
    Optional<SlotTarget> earlier = slot.startedEmpty() ? Optional.empty() : earlier(slot);
    this.target = earlier.orElse(target);
    if (earlier.isEmpty()) {
      slot.writeTarget(target.toMap());
    }
  }

  private static Optional<SlotTarget> earlier(Slot slot) {
    return SlotDirectory.list(slot.directory().getParent(), DiskIo.PRODUCTION).stream()
        .filter(info -> info.name().equals(slot.name()) && !info.target().isEmpty())
        .map(info -> SlotTarget.fromMap(slot.name(), info.target()))
        .findFirst();
  }

  int rememberedCap() {
    return target.batchCap();
  }

  /** Notes a cap; that this fails costs no row. */
  void rememberCap(int cap) {
    try {
      slot.writeTarget(target.withBatchCap(cap).toMap());
    } catch (SfException e) {
      LOG.warn("slot '{}': the server's cap cannot be noted", slot.name(), e);
    }
  }
}
