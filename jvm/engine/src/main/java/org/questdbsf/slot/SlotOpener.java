package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Puts a {@link Slot} together: directory, locks, recovery, ring. Leaves nothing when it fails. */
final class SlotOpener {
  private final Path sfDir;
  private final String name;
  private final RingSettings settings;
  private final SegmentBudget.Share share;
  private final SegmentKeeper keeper;
  private final DiskIo io;

  /** Nobody waits for the slot any more. */
  private volatile boolean abandoned;

  SlotOpener(
      Path sfDir,
      String name,
      RingSettings settings,
      SegmentBudget.Share share,
      SegmentKeeper keeper,
      DiskIo io) {
    this.sfDir = sfDir;
    this.name = name;
    this.settings = settings;
    this.share = share;
    this.keeper = keeper;
    this.io = io;
  }

  /**
   * See {@link Slot#open} and {@link Slot#openToLook}.
   *
   * @param settle whether it is taken into use at once
   */
  Slot open(boolean settle) throws InterruptedException {
    if (!SlotDirectory.isName(name)) {
      share.close();
      throw SlotDirectory.badName(name);
    }
    CompletableFuture<Slot> opening =
        keeper.submit(
            () -> {
              Slot slot;
              try {
                slot = openHere();
              } catch (Throwable e) {
                share.close();
                throw e;
              }
              return settle ? slot.settledOrClosed() : slot;
            });
    try {
      return opening.get();
    } catch (InterruptedException e) {
      abandoned = true;
      opening.thenAccept(
          slot ->
              keeper.submit(
                  () -> {
                    slot.closeHere();
                    return null;
                  }));
      throw e;
    } catch (ExecutionException e) {
      throw asOurs(e.getCause(), "open slot " + sfDir.resolve(name));
    }
  }

  private Slot openHere() throws IOException {
    final Path directory = SlotDirectory.prepare(sfDir, name, io);
    SlotLock lock = SlotLock.acquire(directory.getParent(), name, io);
    List<SegmentFile> segments = List.of();
    try {
      SlotRecovery r = SlotRecovery.look(directory, name, io, () -> abandoned);
      segments = r.map();
      segments.forEach(s -> share.adopt(s.capacity()));
      RecoveryReport report = r.report();
      final DiskStorage storage =
          new DiskStorage(
              directory,
              io,
              (int) settings.segmentBytes(),
              r.watermark(),
              r.witness(),
              r.nextGeneration());
      Segment head = segments.isEmpty() ? null : segments.get(0);
      final RingState state =
          new RingState(
              name,
              storage,
              share,
              settings,
              head,
              report.publishedFsn(),
              report.ackedFsn(),
              r.forced());
      Segment active = segments.isEmpty() ? null : segments.get(segments.size() - 1);
      SegmentRing ring = new SegmentRing(state, active, keeper);
      return new Slot(name, directory, io, keeper, lock, state, ring, r);
    } catch (IOException | RuntimeException | Error e) {
      segments.forEach(SegmentFile::unmap);
      lock.close();
      throw e;
    }
  }

  /** Any error of opening, closing or changing a slot, told as ours. */
  static SfException asOurs(Throwable cause, String what) {
    if (cause instanceof SfException e) {
      return e;
    }
    if (cause instanceof IOException e) {
      return SlotDirectory.failed(what, e);
    }
    if (cause instanceof LinkageError e) {
      return new SfException(
          ErrorCode.SLOT_FILESYSTEM,
          "cannot "
              + what
              + ": the native library that locks slots could not be loaded ("
              + e
              + "); JNA needs a directory it may run code from (-Djna.tmpdir)",
          e);
    }
    return new SfException(ErrorCode.DISK_FAILED, "cannot " + what + ": " + cause, cause);
  }
}
