package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file of a slot that says in a few bytes how far it is. One call writes it, inside one sector.
 * Not thread-safe: the keeper is the only writer.
 */
final class MarkFile {
  private final Path directory;
  private final Path file;
  private final DiskIo io;
  private boolean there;
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

  /** Writes all of its bytes; forced together with the file's name where asked. */
  void write(byte[] bytes, boolean force) throws IOException {
    if (there) {
      io.write(file, 0, bytes);
    } else {
      io.rewrite(file, bytes);
      there = true;
    }
    if (force) {
      io.force(file);
      if (!nameForced) {
        io.forceDirectory(directory);
        nameForced = true;
      }
    }
  }
}
