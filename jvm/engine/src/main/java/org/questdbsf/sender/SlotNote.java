package org.questdbsf.sender;

import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;
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

  /** Writes the note; before the first frame. */
  SlotNote(Slot slot, SlotTarget target) {
    this.slot = slot;
    int cap = Math.max(target.batchCap(), earlierCap(slot));
    this.target = target.withBatchCap(cap);
    slot.writeTarget(this.target.toMap());
  }

  private static int earlierCap(Slot slot) {
    for (SlotInfo info : SlotDirectory.list(slot.directory().getParent(), DiskIo.PRODUCTION)) {
      if (info.name().equals(slot.name()) && !info.target().isEmpty()) {
        return SlotTarget.fromMap(slot.name(), info.target()).batchCap();
      }
    }
    return 0;
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
