package org.questdbsf.slot;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The system calls that Java does not offer. Loads JNA when first used, which is when the first
 * slot is opened. Constants are those of Linux on x86-64 and aarch64, and of macOS.
 */
final class LibC {
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = Platform.isMac() ? 0x1000000 : 0x80000;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;
  private static final int LOCK_UN = 8;
  private static final int ENOENT = 2;
  private static final int EINTR = 4;
  private static final int EWOULDBLOCK = Platform.isMac() ? 35 : 11;
  private static final int ENOSPC = 28;
  private static final int EDQUOT = Platform.isMac() ? 69 : 122;

  static {
    Native.register(LibC.class, "c");
  }

  private LibC() {}

  private static native int open(byte[] path, int flags) throws LastErrorException;

  private static native int close(int fd) throws LastErrorException;

  private static native int flock(int fd, int operation) throws LastErrorException;

  private static native int getpid();

  /** Apart, because macOS has no such function and registration is all or nothing. */
  private static final class Linux {
    static {
      Native.register(Linux.class, "c");
    }

    static native int posix_fallocate(int fd, long offset, long bytes);
  }

  /**
   * Opens an existing file for reading and writing; not inherited by child processes. −1 when it is
   * not there.
   */
  static int openExisting(Path file) throws IOException {
    byte[] path = file.toString().getBytes(Charset.forName(System.getProperty("sun.jnu.encoding")));
    try {
      return open(Arrays.copyOf(path, path.length + 1), O_RDWR | O_CLOEXEC);
    } catch (LastErrorException e) {
      if (e.getErrorCode() == ENOENT) {
        return -1;
      }
      throw failure("open", file, e.getErrorCode(), e);
    }
  }

  static void closeDescriptor(int fd, Path file) throws IOException {
    try {
      close(fd);
    } catch (LastErrorException e) {
      throw failure("close", file, e.getErrorCode(), e);
    }
  }

  /** Takes an exclusive flock; false when another open file holds it. */
  static boolean tryFlock(int fd, Path file) throws IOException {
    while (true) {
      try {
        flock(fd, LOCK_EX | LOCK_NB);
        return true;
      } catch (LastErrorException e) {
        if (e.getErrorCode() == EWOULDBLOCK) {
          return false;
        }
        if (e.getErrorCode() != EINTR) {
          throw failure("flock", file, e.getErrorCode(), e);
        }
      }
    }
  }

  /**
   * Gives a flock back and closes its descriptor. To close alone is not enough: a child process
   * that is being started has a copy of every descriptor until it runs its program.
   */
  static void unlockAndClose(int fd, Path file) throws IOException {
    try {
      flock(fd, LOCK_UN);
    } catch (LastErrorException e) {
      throw failure("flock", file, e.getErrorCode(), e);
    } finally {
      closeDescriptor(fd, file);
    }
  }

  /**
   * Reserves blocks.
   *
   * @return false when this system or file system cannot
   * @throws DiskFullException when there is no room
   */
  static boolean fallocate(Path file, long bytes) throws IOException {
    if (!Platform.isLinux()) {
      return false;
    }
    int fd = openExisting(file);
    if (fd < 0) {
      throw new NoSuchFileException(file.toString());
    }
    int error;
    try {
      do {
        error = Linux.posix_fallocate(fd, 0, bytes);
      } while (error == EINTR);
    } finally {
      closeDescriptor(fd, file);
    }
    if (error == ENOSPC || error == EDQUOT) {
      throw new DiskFullException(
          "no room for " + bytes + " bytes of " + file + " (errno " + error + ")", null);
    }
    return error == 0;
  }

  /** The cheapest system call; see {@link DiskIo#fence}. */
  static int fence() {
    return getpid();
  }

  private static IOException failure(String call, Path file, int errno, Throwable cause) {
    return new IOException(call + " of " + file + " failed with errno " + errno, cause);
  }
}
