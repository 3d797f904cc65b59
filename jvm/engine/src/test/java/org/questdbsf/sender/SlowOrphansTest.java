package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.slot.StuckDisk;

/** Orphans that take long to be read or to be given back. */
@Timeout(60)
class SlowOrphansTest extends OrphanSlots {
  private DrainerPool pool(StuckDisk disk, String... more) {
    SenderConfig config = config(ConfigPreset.SINK, address(), more);
    SlotTarget own = SlotTarget.of(config, List.of(), "adopter");
    DrainerPoolBuilder builder = DrainerPool.builder(config, own).listener(listener);
    return builder.scanMillis(50).diskIo(disk.io()).start();
  }

  @Test
  void whatTakesLongToReadDelaysNoOtherSlotAndNoOtherPoolAndNoClose() throws Exception {
    orphan("app-0", own());
    StuckDisk disk = new StuckDisk("open", "app-0", 1);
    DrainerPool pool = pool(disk);
    disk.awaitStuck();
    orphan("app-1", own());
    event("drained app-1");
    orphan("other-0", own());
    try (DrainerPool other = pool(config(ConfigPreset.SINK, address(), "sender_id", "other"))) {
      event("drained other-0");
      assertEquals(1, other.succeeded());
    }
    pool.close(); // the disk is stuck as before
    assertEquals(0, pool.active());
    disk.letGo();
    await(() -> !info("app-0").locked());
    assertTrue(info("app-0").hasSegments());
    assertRows("app-1", "other-0");
  }

  @Test
  void whatTakesLongToBeGivenBackDelaysNoOtherSlot() throws Exception {
    orphan("app-0", own());
    StuckDisk disk = new StuckDisk("delete", "app-0", 1);
    try (DrainerPool pool = pool(disk, "max_background_drainers", "1")) {
      disk.awaitStuck(); // its frames are acknowledged: the slot is emptied
      orphan("app-1", own());
      event("drained app-1");
      assertEquals(1, pool.succeeded(), "app-0 is not given back yet");
      disk.letGo();
      event("drained app-0");
      assertEquals(2, pool.succeeded());
    }
    assertRows("app-0", "app-1");
  }
}
