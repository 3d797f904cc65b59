package org.questdbsf.slot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The exclusive locks of a slot: first {@code .slot-locks/<slot>.lock} beside it, as the Java and
 * Go clients, then {@code .lock} in it, as all clients. They are flock(2) locks: those of {@link
 * java.nio.channels.FileChannel} are of another kind and exclude no other client. The kernel gives
 * them back when the process ends, however it ends. The files stay; each has a {@code .pid} beside
 * it, for people.
 */
final class SlotLock implements AutoCloseable {
  static final String FILE = ".lock";
  static final String PID_FILE = ".lock.pid";
  static final String SIBLINGS = ".slot-locks";
  private static final int MAX_PID_BYTES = 64;

  private final DiskIo.Lock outer;
  private final DiskIo.Lock inner;

  private SlotLock(DiskIo.Lock outer, DiskIo.Lock inner) {
    this.outer = outer;
    this.inner = inner;
  }

  /**
   * Takes both locks. The directories exist.
   *
   * @throws SfException {@link ErrorCode#SLOT_LOCKED} naming the holder
   */
  static SlotLock acquire(Path sfDir, String slot, DiskIo io) throws IOException {
    Path outerFile = outerFile(sfDir, slot);
    Path innerFile = sfDir.resolve(slot).resolve(FILE);
    DiskIo.Lock outer = take(outerFile, slot, io);
    DiskIo.Lock inner = null;
    try {
      inner = take(innerFile, slot, io);
      byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
      io.rewrite(pidFile(outerFile), pid);
      io.rewrite(pidFile(innerFile), pid);
      return new SlotLock(outer, inner);
    } catch (IOException | RuntimeException | Error e) {
      try (outer) {
        if (inner != null) {
          inner.close();
        }
      }
      throw e;
    }
  }

  private static DiskIo.Lock take(Path file, String slot, DiskIo io) throws IOException {
    DiskIo.Lock lock = io.lock(file);
    if (lock != null) {
      return lock;
    }
    OptionalLong recorded = recordedPid(file, io);
    LockHolders.Holder holder = LockHolders.of(file, recorded);
    OptionalLong pid = holder.pid().isPresent() ? holder.pid() : recorded;
    String who =
        pid.isEmpty()
            ? "another process (holder=unknown)"
            : pid.getAsLong() == ProcessHandle.current().pid()
                ? "this process (holder=" + pid.getAsLong() + ")"
                : "process " + pid.getAsLong() + " (holder=" + pid.getAsLong() + ")";
    throw new SfException(
        ErrorCode.SLOT_LOCKED,
        "slot '"
            + slot
            + "': "
            + file
            + " is held by "
            + who
            + "; two senders cannot share a slot. Use another sender_id, or end that process");
  }

  /** Who holds a slot, without trying. */
  static LockHolders.Holder holder(Path sfDir, String slot, DiskIo io) throws IOException {
    Path inner = sfDir.resolve(slot).resolve(FILE);
    LockHolders.Holder holder = LockHolders.of(inner, recordedPid(inner, io));
    if (holder.held()) {
      return holder;
    }
    Path outer = outerFile(sfDir, slot);
    return LockHolders.of(outer, recordedPid(outer, io));
  }

  private static OptionalLong recordedPid(Path lockFile, DiskIo io) throws IOException {
    Path file = pidFile(lockFile);
    if (!io.exists(file)) {
      return OptionalLong.empty();
    }
    String text = new String(io.read(file, MAX_PID_BYTES), StandardCharsets.US_ASCII).trim();
    return text.matches("[0-9]{1,18}")
        ? OptionalLong.of(Long.parseLong(text))
        : OptionalLong.empty();
  }

  private static Path outerFile(Path sfDir, String slot) {
    return sfDir.resolve(SIBLINGS).resolve(slot + FILE);
  }

  private static Path pidFile(Path lockFile) {
    return lockFile.resolveSibling(lockFile.getFileName() + ".pid");
  }

  /** Gives the locks back, inner first. */
  @Override
  public void close() throws IOException {
    try (outer) {
      inner.close();
    }
  }
}
