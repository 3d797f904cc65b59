package org.questdbsf.sender;

import java.util.Collection;
import java.util.List;
import java.util.Map;
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
  private final boolean readable;
  private SlotTarget target; // guarded by this

  /**
   * Writes the note; before the first frame. Frames that are there already keep the target they
   * were written for, also when somebody else sends them. A note that cannot be read is left as it
   * is: whoever sends its frames all the same was told.
   */
  SlotNote(Slot slot, SlotTarget target) {
    this.slot = slot;
    SlotTarget earlier = null;
    boolean understood = true;
    Map<String, String> there = slot.startedEmpty() ? Map.of() : noteOf(slot);
    if (!there.isEmpty()) {
      try {
        earlier = SlotTarget.fromMap(slot.name(), there);
      } catch (SfException e) {
        LOG.warn("slot '{}': its .target is left as it is: {}", slot.name(), e.getMessage());
        understood = false;
      }
    }
    this.readable = understood;
    this.target = earlier == null ? target : earlier;
    if (there.isEmpty()) {
      slot.writeTarget(target.toMap());
    }
  }

  private static Map<String, String> noteOf(Slot slot) {
    return SlotDirectory.inspect(slot.directory().getParent(), slot.name(), DiskIo.PRODUCTION)
        .target();
  }

  synchronized int rememberedCap() {
    return target.batchCap();
  }

  /** What is asked of the tables of the slot's frames. */
  synchronized List<TableSpec> tables() {
    return target.tables();
  }

  /**
   * Notes what is asked of tables, before the first frame of a new one, so that an adopter asks the
   * same.
   *
   * @throws SfException DISK_FAILED
   */
  synchronized void require(Collection<TableSpec> tables) {
    if (!readable) {
      return;
    }
    SlotTarget wider = target.withTables(tables);
    slot.writeTarget(wider.toMap());
    target = wider;
  }

  /** Notes a cap; that this fails costs no row. */
  synchronized void rememberCap(int cap) {
    if (!readable) {
      return;
    }
    target = target.withBatchCap(cap);
    try {
      slot.writeTarget(target.toMap());
    } catch (SfException e) {
      LOG.warn("slot '{}': the server's cap cannot be noted", slot.name(), e);
    }
  }
}
