package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A file of a slot that says in a few bytes how far it is. One call writes it, inside one sector.
 * Not thread-safe: the keeper is the only writer.
 */
final class MarkFile {
  private final Path directory;
  private final Path file;
  private final DiskIo io;
  private byte[] content; // null where it is not known
  private boolean there;
  private boolean contentForced;
  private boolean nameForced;

  /**
   * @param there whether the directory holds a valid one already, which is written over in place
   */
  MarkFile(Path directory, String name, DiskIo io, boolean there) {
    this.directory = directory;
    this.file = directory.resolve(name);
    this.io = io;
    this.there = there;
  }

  /**
   * Makes these its bytes; forced together with the file's name where asked. What is as it should
   * be is not written, nor forced, again. The message of an exception begins with the file's name.
   */
  void write(byte[] bytes, boolean force) throws IOException {
    try {
      if (!Arrays.equals(bytes, content)) {
        put(bytes);
      }
      if (force) {
        force();
      }
    } catch (IOException e) {
      throw new IOException(file.getFileName() + ": " + e.getMessage(), e);
    }
  }

  private void put(byte[] bytes) throws IOException {
    content = null;
    contentForced = false;
    if (there) {
      io.write(file, 0, bytes);
    } else {
      io.rewrite(file, bytes);
      there = true;
    }
    content = bytes;
  }

  private void force() throws IOException {
    if (!contentForced) {
      io.force(file);
      contentForced = true;
    }
    if (!nameForced) {
      io.forceDirectory(directory);
      nameForced = true;
    }
  }
}
