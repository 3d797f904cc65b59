package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;

/** A segment that is a mapped file with all its blocks. */
final class SegmentFile extends Segment {
  private final Path path;
  private final DiskIo.Region region;

  private SegmentFile(Path path, DiskIo.Region region, long baseFsn) {
    super(path.getFileName().toString(), region.bytes(), baseFsn);
    this.path = path;
    this.region = region;
  }

  /**
   * Makes a new, empty one. Its header names base 0, which other clients take for a spare while
   * there is no frame. A file that could not be made whole is deleted.
   */
  static SegmentFile create(Path path, int bytes, DiskIo io) throws IOException {
    DiskIo.Region region = null;
    try {
      io.create(path, bytes);
      region = io.map(path, bytes);
      SegmentFile made = new SegmentFile(path, region, 0);
      made.touch();
      made.begin(0);
      return made;
    } catch (IOException | RuntimeException | Error e) {
      if (region != null) {
        region.unmap();
      }
      try {
        io.delete(path);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /** Maps one that recovery found. */
  static SegmentFile map(Path path, int bytes, long baseFsn, DiskIo io) throws IOException {
    return new SegmentFile(path, io.map(path, bytes), baseFsn);
  }

  void force() throws IOException {
    region.force();
  }

  /** Nobody may read or write it from now on. */
  void unmap() {
    region.unmap();
  }

  Path path() {
    return path;
  }
}
