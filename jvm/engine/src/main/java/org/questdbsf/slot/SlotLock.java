package org.questdbsf.slot;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive locks of a slot: first {@code .slot-locks/<slot>.lock} beside it, as the Java and
 * Go clients, then {@code .lock} in it, as all clients. They are flock(2) locks: those of {@link
 * java.nio.channels.FileChannel} are of another kind and exclude no other client. The kernel gives
 * them back when the process ends, however it ends. The files stay; each gets a {@code .pid} beside
 * it, for people, once the slot is accepted. A slot that is not leaves no file of ours behind.
 */
final class SlotLock implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SlotLock.class);
  static final String FILE = ".lock";
  static final String PID_FILE = ".lock.pid";
  static final String SIBLINGS = ".slot-locks";
  private static final int MAX_PID_BYTES = 64;

  private final Path outerFile;
  private final Path innerFile;
  private final DiskIo io;
  private final Deque<Path> made = new ArrayDeque<>();
  private DiskIo.Lock outer;
  private DiskIo.Lock inner;

  private SlotLock(Path sfDir, String slot, DiskIo io) {
    this.outerFile = outerFile(sfDir, slot);
    this.innerFile = sfDir.resolve(slot).resolve(FILE);
    this.io = io;
  }

  /**
   * Takes both locks. The slot's directory exists.
   *
   * @throws SfException {@link ErrorCode#SLOT_LOCKED} naming the holder
   */
  static SlotLock acquire(Path sfDir, String slot, DiskIo io) throws IOException {
    SlotLock lock = new SlotLock(sfDir, slot, io);
    try {
      lock.outer = lock.takeOuter(slot);
      lock.inner = lock.take(lock.innerFile, slot);
      // Also where nothing is written to them yet: what cannot be signed is not looked at.
      recordedPid(lock.outerFile, io);
      recordedPid(lock.innerFile, io);
      return lock;
    } catch (IOException | RuntimeException | Error e) {
      try {
        lock.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  private DiskIo.Lock takeOuter(String slot) throws IOException {
    makeSiblings();
    try {
      return take(outerFile, slot);
    } catch (NoSuchFileException e) { // who made the directory took it away again
      makeSiblings();
      return take(outerFile, slot);
    }
  }

  private void makeSiblings() throws IOException {
    Path siblings = outerFile.getParent();
    if (!io.exists(siblings)) {
      made.push(siblings);
      SlotDirectory.make(siblings, io);
    }
  }

  /** Notes this process as the holder. */
  void sign() throws IOException {
    byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
    io.rewrite(pidFile(outerFile), pid);
    io.rewrite(pidFile(innerFile), pid);
    made.clear();
  }

  private DiskIo.Lock take(Path file, String slot) throws IOException {
    boolean there = io.exists(file);
    DiskIo.Lock lock = io.lock(file);
    if (lock != null) {
      if (!there) {
        made.push(file);
      }
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
    byte[] bytes; // its owner may be writing it, or taking it away
    try {
      bytes = io.readHead(file, MAX_PID_BYTES);
    } catch (NoSuchFileException | FileNotFoundException e) {
      return OptionalLong.empty();
    }
    String text = new String(bytes, StandardCharsets.US_ASCII).trim();
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

  /**
   * Gives the locks back, inner first. What was made for a lock that was never signed goes while it
   * is still held, so that nobody locks a file that is about to go.
   */
  @Override
  public void close() throws IOException {
    try (DiskIo.Lock first = outer;
        DiskIo.Lock second = inner) {
      while (!made.isEmpty()) {
        unmake(made.pop());
      }
    }
  }

  private void unmake(Path path) throws IOException {
    try {
      io.delete(path);
    } catch (DirectoryNotEmptyException e) {
      LOG.debug("{} stays: another process has its lock in it", path);
    }
  }
}
