package org.questdbsf.slot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The only place that opens, maps, forces, renames, deletes or lists files, so that tests can fail
 * each call. Never called by a thread that may be interrupted: an interrupt closes the file. New
 * files get mode 0600, new directories 0700.
 */
public interface DiskIo {
  /** The real disk. */
  DiskIo PRODUCTION = new FileDiskIo();

  /** A file open for reading. */
  interface Reader extends Closeable {
    long size() throws IOException;

    /** Reads at a position; −1 at the end of the file. */
    int read(ByteBuffer dst, long at) throws IOException;
  }

  /** A file mapped for reading and writing. */
  interface Region {
    ByteBuffer bytes();

    /** Forces the bytes, and what is needed to find them again. */
    void force() throws IOException;

    /** After this any access to {@link #bytes} ends the JVM. A second call does nothing. */
    void unmap();
  }

  /** A lock, held until closed. */
  interface Lock extends Closeable {}

  /** All names in a directory, in no order; a failure in the middle is an error. */
  List<String> list(Path directory) throws IOException;

  boolean exists(Path path) throws IOException;

  boolean isDirectory(Path path) throws IOException;

  /** Makes a directory whose parent exists. */
  void createDirectory(Path directory) throws IOException;

  /** Reads the first bytes of a file, at most {@code limit}. An interrupt does not disturb it. */
  byte[] readHead(Path file, int limit) throws IOException;

  /** Reads a file of at most {@code limit} bytes; a larger one is an error. */
  byte[] read(Path file, int limit) throws IOException;

  Reader open(Path file) throws IOException;

  /** Writes at a position, making the file if need be. */
  void write(Path file, long at, byte[] bytes) throws IOException;

  /** Cuts a file, made if need be, down to nothing and writes it anew. */
  void rewrite(Path file, byte[] bytes) throws IOException;

  /**
   * Makes a file of zeros that has all its blocks.
   *
   * @throws DiskFullException when there is no room; an incomplete file may be left
   */
  void create(Path file, long bytes) throws IOException;

  /**
   * Gives an existing file all blocks of its first {@code bytes}.
   *
   * @throws DiskFullException when there is no room
   */
  void reserve(Path file, long bytes) throws IOException;

  Region map(Path file, int bytes) throws IOException;

  /** Forces a file's bytes. */
  void force(Path file) throws IOException;

  /** Forces the names in a directory. */
  void forceDirectory(Path directory) throws IOException;

  void rename(Path from, Path to) throws IOException;

  /** Deletes a file; nothing when it is not there. */
  void delete(Path file) throws IOException;

  /** Bytes that this process may still write to the file system of a directory. */
  long usableBytes(Path directory) throws IOException;

  /** Name of a path's file system, as the mount table has it. */
  String fileSystemType(Path path) throws IOException;

  /**
   * Takes the exclusive flock of a file, making it if need be; null when another holds it. On
   * return the path still names the locked file.
   */
  Lock lock(Path file) throws IOException;

  /** Which boot of the host this is: the same number as long as it is up; 0 when not known. */
  long boot();

  /** See {@link SegmentStorage#fence}. */
  void fence();
}
