package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;

/** Segments as files of a slot directory. */
final class DiskStorage implements SegmentStorage {
  private final Path directory;
  private final DiskIo io;
  private final int segmentBytes;
  private final AckWatermark watermark;
  private final SlotWitness witness;
  private long nextGeneration;

  /**
   * @param nextGeneration above all that exist; never used twice, so that a file that could not be
   *     deleted is not written to again
   */
  DiskStorage(
      Path directory,
      DiskIo io,
      int segmentBytes,
      AckWatermark watermark,
      SlotWitness witness,
      long nextGeneration) {
    this.directory = directory;
    this.io = io;
    this.segmentBytes = segmentBytes;
    this.watermark = watermark;
    this.witness = witness;
    this.nextGeneration = nextGeneration;
    io.fence(); // the first call of a native function is slow
  }

  @Override
  public Segment create() throws IOException {
    Path path = directory.resolve(SegmentFormat.fileName(nextGeneration++));
    return SegmentFile.create(path, segmentBytes, io);
  }

  @Override
  public void remove(Segment segment) throws IOException {
    SegmentFile file = (SegmentFile) segment;
    // In this order: a file that could not be deleted can still be read and forced.
    io.delete(file.path());
    file.unmap();
  }

  @Override
  public void force(Segment segment) throws IOException {
    ((SegmentFile) segment).force();
  }

  @Override
  public void forceNames() throws IOException {
    io.forceDirectory(directory);
  }

  @Override
  public void writeMarks(Marks marks, boolean force) throws IOException {
    watermark.write(marks.acked(), force);
    witness.write(marks, force);
  }

  @Override
  public void fence() {
    io.fence();
  }

  @Override
  public boolean durable() {
    return true;
  }

  @Override
  public long usableBytes() throws IOException {
    return io.usableBytes(directory);
  }
}
