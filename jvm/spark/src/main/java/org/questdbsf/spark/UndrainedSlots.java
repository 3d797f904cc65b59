package org.questdbsf.spark;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.SlotTarget;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;

/**
 * Refuses updates by key while a slot in {@code sf_dir} holds rows for the same target: an older
 * value among them could arrive after a newer one and replace it.
 */
final class UndrainedSlots {
  private UndrainedSlots() {}

  /**
   * Looks, where the stream updates and has an {@code sf_dir}. The disk is read by the {@link
   * Housekeeper}. Of what cannot be looked at only the slots of the same sender_id count: anything
   * may lie in {@code sf_dir}.
   *
   * @throws SfException CONFIG_CONFLICT naming the slot
   */
  static void refuse(LaneSettings settings, SenderConfig config) throws InterruptedException {
    SfOptions options = settings.options();
    Optional<String> dir = options.text(SfOption.SF_DIR);
    boolean updates = options.isSet(SfOption.UPDATE_KEYS) && !options.commitOn().onDisk();
    if (dir.isEmpty() || !updates) {
      return; // with slots of its own a stream does not update: StreamRules
    }
    List<SlotInfo> slots;
    try {
      slots =
          Housekeeper.call(() -> SlotDirectory.list(Path.of(dir.get()), DiskIo.PRODUCTION)).get();
    } catch (ExecutionException e) {
      throw new SfException(
          ErrorCode.DISK_FAILED,
          "sf_dir=" + dir.get() + " cannot be looked at: " + e.getCause(),
          e);
    }
    SlotTarget own = SlotTarget.of(config, List.of(), "questdb-sf-spark");
    for (SlotInfo slot : slots) {
      if (slot.problem().isPresent() && slot.isOf(settings.senderId())) {
        throw OptionRules.conflict(
            "outputMode(\"update\"): "
                + slot.directory()
                + " cannot be looked at ("
                + slot.problem().get()
                + "), and may hold rows for the same target that were not sent yet. Mend its"
                + " permissions, or move it out of sf_dir, then start the query again.");
      }
      if (slot.hasSegments() && !slot.quarantined() && isFor(own, slot)) {
        throw OptionRules.conflict(
            "outputMode(\"update\"): slot "
                + slot.directory()
                + " holds rows for the same target that were not sent yet, and an older value among"
                + " them could replace a newer one. Have it drained first (drain_orphans, or"
                + " questdb-sf slots drain), then start the query again.");
      }
    }
  }

  private static boolean isFor(SlotTarget own, SlotInfo slot) {
    if (slot.target().isEmpty()) {
      return false;
    }
    try {
      return SlotTarget.fromMap(slot.name(), slot.target()).difference(own).isEmpty();
    } catch (SfException e) {
      return true; // it may be: nobody can tell
    }
  }
}
