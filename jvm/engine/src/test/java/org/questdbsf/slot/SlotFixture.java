package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.TreeSet;

/** A directory for slots, a keeper and a budget, cleaned up at the end. */
final class SlotFixture implements AutoCloseable {
  static final int SEGMENT = 4096;

  final Path sfDir;
  final SegmentKeeper keeper = new SegmentKeeper();
  SegmentBudget budget = new SegmentBudget(1 << 20);

  SlotFixture() {
    this(Path.of(System.getProperty("java.io.tmpdir")));
  }

  private SlotFixture(Path parent) {
    try {
      sfDir = Files.createTempDirectory(parent, "slot-test");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** In memory where there is such a file system: for tests that force thousands of times. */
  static SlotFixture inMemory() {
    Path shm = Path.of("/dev/shm");
    return Files.isWritable(shm) ? new SlotFixture(shm) : new SlotFixture();
  }

  static RingSettings settings(int segmentBytes, Durability durability) {
    return new RingSettings(segmentBytes, durability, 10, 0);
  }

  Slot open(String name, DiskIo io) throws InterruptedException {
    return open(name, SEGMENT, Durability.FLUSH, io);
  }

  Slot open(String name, int segmentBytes, Durability durability, DiskIo io)
      throws InterruptedException {
    return Slot.open(
        sfDir, name, settings(segmentBytes, durability), budget.open(segmentBytes), keeper, io);
  }

  Path slot(String name) {
    return sfDir.resolve(name);
  }

  TreeSet<String> files(String name) throws IOException {
    TreeSet<String> names = new TreeSet<>();
    try (var entries = Files.newDirectoryStream(slot(name))) {
      entries.forEach(p -> names.add(p.getFileName().toString()));
    }
    return names;
  }

  @Override
  public void close() {
    keeper.close();
    try {
      Files.walkFileTree(
          sfDir,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
              Files.delete(dir);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
