package org.questdbsf.slot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random plans against a list in memory: append, read, acknowledge, force, close, kill, reopen. */
@Timeout(120)
class RingModelTest {
  private static final int PLANS = 40;
  private static final int STEPS = 250;

  @Test
  void theRingDoesWhatAListDoes() throws Exception {
    long first = new Random().nextLong();
    for (long seed = first; seed < first + PLANS; seed++) {
      try (Plan plan = new Plan(seed)) {
        plan.run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** One plan; frames below {@code base} are gone. */
  private static final class Plan implements AutoCloseable {
    private final SlotFixture fix = SlotFixture.inMemory();
    private final Random random;
    private final List<byte[]> frames = new ArrayList<>();
    private final List<Slot> dead = new ArrayList<>();
    private Slot slot;
    private int lives;
    private long acked = -1;

    Plan(long seed) throws Exception {
      random = new Random(seed);
      fix.budget = new SegmentBudget(64 << 20);
      slot = reopen();
    }

    private Slot reopen() throws Exception {
      int[] sizes = {4096, 5000, 8192, 20_001};
      Durability[] durabilities = Durability.values();
      return fix.open(
          "s" + lives,
          sizes[random.nextInt(sizes.length)],
          durabilities[random.nextInt(durabilities.length)],
          DiskIo.PRODUCTION);
    }

    void run() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(20)) {
          case 0 -> slot.ring().force();
          case 1 -> closeAndReopen();
          case 2 -> killAndReopen();
          case 3, 4, 5 -> acknowledge();
          case 6, 7, 8, 9 -> readSome();
          default -> append();
        }
        assertEquals(frames.size() - 1, slot.ring().publishedFsn());
        assertEquals(acked, slot.ring().ackedFsn());
      }
      readAll();
    }

    private void append() throws Exception {
      int max = slot.ring().maxFrameBytes();
      byte[] f =
          random.nextInt(10) == 0
              ? Frames.random(random, max, max)
              : Frames.random(random, 1, Math.min(max, 1 << random.nextInt(13)));
      byte[] padded = new byte[f.length + 7];
      System.arraycopy(f, 0, padded, 5, f.length);
      assertEquals(frames.size(), slot.ring().append(padded, 5, f.length, 20_000, () -> ""));
      frames.add(f);
    }

    private void acknowledge() {
      long to = acked + random.nextInt(12) - 2;
      slot.ring().acknowledge(to);
      acked = Math.max(acked, Math.min(to, frames.size() - 1));
    }

    private void readSome() {
      if (acked + 1 < frames.size()) {
        long from = acked + 1 + random.nextInt((int) (frames.size() - acked - 1));
        for (long fsn = from; fsn < Math.min(from + 5, frames.size()); fsn++) {
          check(fsn);
        }
      }
    }

    private void readAll() {
      for (long fsn = acked + 1; fsn < frames.size(); fsn++) {
        check(fsn);
      }
      assertEquals(-1, slot.ring().frameLength(frames.size()));
    }

    private void check(long fsn) {
      byte[] expected = frames.get((int) fsn);
      assertEquals(expected.length, slot.ring().frameLength(fsn), "frame " + fsn);
      byte[] dst = new byte[expected.length + 3];
      slot.ring().copyFrame(fsn, dst, 3);
      assertArrayEquals(expected, Arrays.copyOfRange(dst, 3, dst.length), "frame " + fsn);
    }

    private void closeAndReopen() throws Exception {
      slot.close();
      if (acked == frames.size() - 1) {
        frames.clear();
        acked = -1;
      }
      slot = reopen();
      readAll();
    }

    /** What SIGKILL leaves is what the page cache holds, here a copy of the files. */
    private void killAndReopen() throws Exception {
      lives++;
      copyFiles();
      dead.add(slot);
      slot = reopen();
      assertTrue(slot.ring().ackedFsn() <= acked, "nothing is acknowledged that was not");
      if (slot.startedEmpty() && acked == frames.size() - 1) {
        frames.clear();
        acked = -1;
      } else {
        acked = slot.ring().ackedFsn();
        assertEquals(frames.size() - 1, slot.ring().publishedFsn());
        readAll();
      }
      dead.remove(0).close();
    }

    private void copyFiles() throws Exception {
      var from = fix.slot("s" + (lives - 1));
      var to = Files.createDirectories(fix.slot("s" + lives));
      // The keeper may be deleting meanwhile: oldest first, so copy the newest first.
      for (String name : fix.files("s" + (lives - 1)).descendingSet()) {
        try {
          Files.write(to.resolve(name), Files.readAllBytes(from.resolve(name)));
        } catch (NoSuchFileException e) {
          assertTrue(name.endsWith(".sfa"), name);
        }
      }
    }

    @Override
    public void close() {
      slot.close();
      for (Slot s : dead) {
        s.close();
      }
      fix.close();
    }
  }
}
