package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Tells the files that this library may open from what else may have their names: links, FIFOs,
 * devices, directories, files of other users.
 */
final class OwnFiles {
  private static final int TYPE = 0170000;
  private static final int REGULAR = 0100000;
  private static final int NOT_KNOWN = -1;

  /** The user that this process runs as; not known where there is no /proc. */
  private static final int USER = user();

  private OwnFiles() {}

  private static int user() {
    try {
      return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException e) {
      return NOT_KNOWN; // macOS
    }
  }

  /**
   * Lets regular files of this user pass.
   *
   * @throws NoSuchFileException when there is none of that name
   * @throws IOException for anything else; says what it is and what to do
   */
  static void check(Path file) throws IOException {
    Map<String, Object> found =
        Files.readAttributes(file, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
    int type = (Integer) found.get("mode") & TYPE;
    if (type != REGULAR) {
      throw new IOException(
          file + " is " + kind(type) + " and not a regular file, so it is not opened; remove it");
    }
    int owner = (Integer) found.get("uid");
    if (USER != NOT_KNOWN && owner != USER) {
      throw new IOException(
          file
              + " belongs to user id "
              + owner
              + ", and this process runs as "
              + USER
              + ", so it is not opened; run as its owner, or give it to this user (chown)");
    }
  }

  private static String kind(int type) {
    return switch (type) {
      case 0120000 -> "a symbolic link";
      case 0040000 -> "a directory";
      case 0010000 -> "a FIFO";
      case 0140000 -> "a socket";
      default -> "a device";
    };
  }
}
