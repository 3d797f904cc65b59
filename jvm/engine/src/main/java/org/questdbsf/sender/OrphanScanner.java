package org.questdbsf.sender;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds slots that hold frames and that nobody holds (client spec, section on orphan adoption). A
 * slot is a candidate if it is in scope by its name, has segments and no {@code .failed}, and its
 * {@code .target} says that its frames may go where this sender's go. Slots for another target are
 * stranded: counted, and named once with what to do. Takes no lock; one thread.
 */
final class OrphanScanner {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanScanner.class);

  /**
   * What one look found.
   *
   * @param candidates slots to drain, by name
   * @param stranded slots for another target
   * @param failed slots that wait for an operator, those that cannot be looked at among them
   */
  record Scan(List<Orphan> candidates, int stranded, int failed) {}

  /** A slot to drain; the target is empty where the slot has none. */
  record Orphan(String name, Optional<SlotTarget> target) {}

  private final Path sfDir;
  private final String ownSlot;
  private final Predicate<SlotInfo> scope;
  private final SlotTarget own;
  private final boolean adoptWithoutTarget;
  private final DiskIo io;
  private final Set<String> named = new HashSet<>();

  /**
   * Looks for what a sender may adopt.
   *
   * @param own where this sender's frames go
   */
  OrphanScanner(SenderConfig config, SlotTarget own, DiskIo io) {
    this.sfDir = config.sfDir().orElseThrow();
    // A plain sender reopens the slot of its own name; lanes have numbers behind it.
    this.ownSlot = config.preset() == ConfigPreset.ENGINE ? config.senderId() : null;
    this.scope =
        switch (config.drainOrphans()) {
          case OFF -> slot -> false;
          case OWN -> slot -> slot.isOf(config.senderId());
          case ALL -> slot -> true;
        };
    this.own = own;
    // Other clients write no .target, and the plain sender drains their slots as the spec says.
    this.adoptWithoutTarget = config.preset() == ConfigPreset.ENGINE;
    this.io = io;
  }

  /**
   * Looks once. Not for a thread that may be interrupted.
   *
   * @throws SfException DISK_FAILED if the directory cannot be read
   */
  Scan scan() {
    List<Orphan> candidates = new ArrayList<>();
    int stranded = 0;
    int failed = 0;
    for (SlotInfo slot : SlotDirectory.list(sfDir, io)) {
      boolean inScope = !slot.name().equals(ownSlot) && scope.test(slot);
      if (inScope && slot.problem().isPresent()) {
        failed++;
        nameUnreadable(slot);
      }
      if (!inScope || !slot.hasSegments() || slot.quarantined()) {
        continue;
      }
      if (slot.failed()) {
        failed++;
        if (named.add(slot.name())) {
          LOG.warn(
              "Slot {} holds frames and is not adopted: it has failed before, .failed in it says"
                  + " why. To have it tried again: questdb-sf slots clear-failed {}",
              slot.directory(),
              slot.directory());
        }
        continue;
      }
      if (slot.locked()) {
        continue;
      }
      Orphan orphan = judge(slot);
      if (orphan == null) {
        stranded++;
      } else {
        named.remove(slot.name());
        candidates.add(orphan);
      }
    }
    return new Scan(candidates, stranded, failed);
  }

  private void nameUnreadable(SlotInfo slot) {
    if (named.add(slot.name())) {
      LOG.warn(
          "{} cannot be looked at ({}) and is not adopted, whatever it holds; the other slots are."
              + " Mend its permissions, or move it out of sf_dir",
          slot.directory(),
          slot.problem().orElseThrow());
    }
  }

  private Orphan judge(SlotInfo slot) {
    if (slot.target().isEmpty()) {
      if (adoptWithoutTarget) {
        return new Orphan(slot.name(), Optional.empty());
      }
      nameOnce(slot, "does not say where its frames belong (no .target)");
      return null;
    }
    SlotTarget target;
    try {
      target = SlotTarget.fromMap(slot.name(), slot.target());
    } catch (SfException e) {
      nameOnce(slot, "cannot be judged (" + e.getMessage() + ")");
      return null;
    }
    Optional<String> difference = target.difference(own);
    difference.ifPresent(why -> nameOnce(slot, "belongs to another target: " + why));
    return difference.isPresent() ? null : new Orphan(slot.name(), Optional.of(target));
  }

  private void nameOnce(SlotInfo slot, String why) {
    if (named.add(slot.name())) {
      LOG.warn(
          "Slot {} holds frames and is not adopted: it {}. To send them to a server of your choice:"
              + " QDB_CLIENT_CONF='ws::addr=HOST:PORT;' questdb-sf slots drain --any-target {}",
          slot.directory(),
          why,
          slot.directory());
    }
  }
}
