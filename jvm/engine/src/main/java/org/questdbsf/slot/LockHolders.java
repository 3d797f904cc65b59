package org.questdbsf.slot;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Who holds a file's flock, as /proc/locks says. Looking never tries the lock: a trial would take
 * it for a moment, and its owner-to-be would be turned away.
 */
final class LockHolders {
  private static final Path PROC_LOCKS = Path.of("/proc/locks");

  private LockHolders() {}

  /**
   * @param pid the holder, empty when it is not visible from here (another container)
   */
  record Holder(boolean held, OptionalLong pid) {
    static final Holder NONE = new Holder(false, OptionalLong.empty());
  }

  /**
   * Looks a lock file up; nobody where there is no /proc/locks, as on macOS.
   *
   * @param recordedPid the pid in {@code .lock.pid}: identifies the holder on file systems whose
   *     device number differs between stat(2) and /proc/locks (btrfs, overlay)
   */
  static Holder of(Path lockFile, OptionalLong recordedPid) throws IOException {
    Map<String, Object> file;
    try {
      file = Files.readAttributes(lockFile, "unix:dev,ino");
    } catch (NoSuchFileException e) {
      return Holder.NONE;
    }
    if (!Files.exists(PROC_LOCKS)) {
      return Holder.NONE;
    }
    String locks;
    try (InputStream in = new FileInputStream(PROC_LOCKS.toFile())) { // not closed by an interrupt
      locks = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    }
    long dev = ((Number) file.get("dev")).longValue();
    return find(locks, dev, ((Number) file.get("ino")).longValue(), recordedPid);
  }

  /** Lines are: {@code 1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF}. */
  static Holder find(String locks, long dev, long inode, OptionalLong recordedPid) {
    for (String line : locks.split("\n")) {
      String[] words = line.trim().split("\\s+");
      if (words.length < 6 || !words[1].equals("FLOCK") || !words[3].equals("WRITE")) {
        continue; // also the lines of waiters, which have an arrow in second place
      }
      String[] id = words[5].split(":");
      if (id.length != 3 || Long.parseLong(id[2]) != inode) {
        continue;
      }
      long pid = Long.parseLong(words[4]);
      boolean sameDevice =
          Long.parseLong(id[0], 16) == major(dev) && Long.parseLong(id[1], 16) == minor(dev);
      if (sameDevice || (recordedPid.isPresent() && recordedPid.getAsLong() == pid)) {
        return new Holder(true, pid > 0 ? OptionalLong.of(pid) : OptionalLong.empty());
      }
    }
    return Holder.NONE;
  }

  private static long major(long dev) {
    return (dev >>> 8 & 0xfff) | (dev >>> 32 & ~0xfffL);
  }

  private static long minor(long dev) {
    return (dev & 0xff) | (dev >>> 12 & ~0xffL);
  }
}
