package org.questdbsf.slot;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/** The real disk. Stateless; JNA is loaded by {@link #lock}, {@link #create} and {@link #fence}. */
final class FileDiskIo implements DiskIo {
  private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final Set<OpenOption> READ =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> CHANGE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> WRITE =
      Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> REWRITE =
      Set.of(
          StandardOpenOption.WRITE,
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> CREATE_NEW =
      Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 20).asReadOnlyBuffer();
  private static final int CHUNK = 1 << 16;
  private static final int LOCK_ATTEMPTS = 10;
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /**
   * Opens a regular file of this user, never through a link. To open a FIFO would wait for ever,
   * and a link or a file of another user is none that this library made.
   */
  private static FileChannel open(Path file, Set<OpenOption> how) throws IOException {
    try {
      OwnFiles.check(file);
    } catch (NoSuchFileException e) {
      if (!how.contains(StandardOpenOption.CREATE)) {
        throw e;
      }
    }
    return FileChannel.open(file, how, FILE_MODE);
  }

  @Override
  public List<String> list(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path p : entries) {
        names.add(p.getFileName().toString());
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return names;
  }

  @Override
  public boolean exists(Path path) throws IOException {
    try {
      Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  @Override
  public boolean isDirectory(Path path) throws IOException {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .isDirectory();
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  @Override
  public void createDirectory(Path directory) throws IOException {
    Files.createDirectory(directory, DIRECTORY_MODE);
  }

  @Override
  public byte[] readHead(Path file, int limit) throws IOException {
    OwnFiles.check(file);
    try (InputStream in = new FileInputStream(file.toFile())) { // not closed by an interrupt
      return in.readNBytes(limit);
    }
  }

  @Override
  public byte[] read(Path file, int limit) throws IOException {
    byte[] bytes = readHead(file, limit + 1);
    if (bytes.length > limit) {
      throw new IOException(file + " has more than the " + limit + " bytes allowed");
    }
    return bytes;
  }

  @Override
  public Reader open(Path file) throws IOException {
    FileChannel channel = open(file, READ);
    return new Reader() {
      @Override
      public long size() throws IOException {
        return channel.size();
      }

      @Override
      public int read(ByteBuffer dst, long at) throws IOException {
        return channel.read(dst, at);
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  @Override
  public void write(Path file, long at, byte[] bytes) throws IOException {
    try (FileChannel channel = open(file, WRITE)) {
      writeFully(channel, ByteBuffer.wrap(bytes), at);
    }
  }

  @Override
  public void rewrite(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel = open(file, REWRITE)) {
      writeFully(channel, ByteBuffer.wrap(bytes), 0);
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes, long at)
      throws IOException {
    long position = at;
    while (bytes.hasRemaining()) {
      position += channel.write(bytes, position);
    }
  }

  @Override
  public void create(Path file, long bytes) throws IOException {
    FileChannel.open(file, CREATE_NEW, FILE_MODE).close();
    // Where it can: all blocks at once, so that a full disk is known before anything is written.
    LibC.fallocate(file, bytes);
    // Written as well: pages that come by large writes cost a quarter of those that a map faults
    // in.
    fillWithZeros(file, bytes);
  }

  @Override
  public void reserve(Path file, long bytes) throws IOException {
    if (!LibC.fallocate(file, bytes)) {
      rewriteInPlace(file, bytes);
    }
  }

  /** Writes zeros, which has the file system find blocks. */
  private static void fillWithZeros(Path file, long bytes) throws IOException {
    try (FileChannel channel = open(file, WRITE)) {
      for (long at = 0; at < bytes; at += ZEROS.capacity()) {
        int count = (int) Math.min(ZEROS.capacity(), bytes - at);
        writeFully(channel, ZEROS.duplicate().limit(count), at);
      }
    } catch (IOException e) {
      throw fullOr(e, file, bytes);
    }
  }

  /** Writes what a file holds over itself: holes become blocks. */
  private static void rewriteInPlace(Path file, long bytes) throws IOException {
    try (FileChannel channel = open(file, CHANGE)) {
      for (long at = 0; at < bytes; at += CHUNK) {
        ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(CHUNK, bytes - at));
        int n = 0;
        while (chunk.hasRemaining() && n >= 0) {
          n = channel.read(chunk, at + chunk.position());
        }
        writeFully(channel, chunk.clear(), at);
      }
    } catch (IOException e) {
      throw fullOr(e, file, bytes);
    }
  }

  /** The message of a full disk depends on the locale, so ask the file system as well. */
  private static IOException fullOr(IOException e, Path file, long bytes) throws IOException {
    boolean full =
        String.valueOf(e.getMessage()).contains("No space left")
            || Files.getFileStore(file).getUsableSpace() < bytes;
    return full ? new DiskFullException("no room for " + bytes + " bytes of " + file, e) : e;
  }

  @Override
  public Region map(Path file, int bytes) throws IOException {
    MappedByteBuffer map;
    try (FileChannel channel = open(file, CHANGE)) {
      if (channel.size() < bytes) {
        throw new EOFException(
            file + " has " + channel.size() + " bytes, fewer than the " + bytes + " to be mapped");
      }
      map = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
    }
    return new MappedRegion(map);
  }

  /** A map, and its end. */
  private static final class MappedRegion implements Region {
    private final MappedByteBuffer map;
    private boolean unmapped;

    MappedRegion(MappedByteBuffer map) {
      this.map = map;
    }

    @Override
    public ByteBuffer bytes() {
      return map;
    }

    @Override
    public synchronized void force() throws IOException {
      if (unmapped) {
        throw new IOException("the segment is unmapped");
      }
      try {
        map.force(); // msync: forces the file's data and the blocks it needs, reports write errors
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
    }

    @Override
    public synchronized void unmap() {
      if (!unmapped) {
        unmapped = true;
        Unmapper.unmap(map);
      }
    }
  }

  /** The one supported way to unmap before the garbage collector does. */
  private static final class Unmapper {
    private static final Object UNSAFE;
    private static final Method INVOKE_CLEANER;

    static {
      try {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        var field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        UNSAFE = field.get(null);
        INVOKE_CLEANER = unsafe.getMethod("invokeCleaner", ByteBuffer.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    static void unmap(ByteBuffer map) {
      try {
        INVOKE_CLEANER.invoke(UNSAFE, map);
      } catch (IllegalAccessException | InvocationTargetException e) {
        throw new IllegalStateException("cannot unmap", e);
      }
    }
  }

  @Override
  public void force(Path file) throws IOException {
    try (FileChannel channel = open(file, CHANGE)) {
      channel.force(true);
    }
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }

  @Override
  public long usableBytes(Path directory) throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  @Override
  public String fileSystemType(Path path) throws IOException {
    return Files.getFileStore(path).type();
  }

  @Override
  public Lock lock(Path file) throws IOException {
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
      open(file, WRITE).close();
      final int fd = LibC.openExisting(file);
      if (fd < 0) {
        continue;
      }
      boolean held = false;
      try {
        if (!LibC.tryFlock(fd, file)) {
          return null;
        }
        held = isSameFile(fd, file);
      } finally {
        if (!held) {
          LibC.closeDescriptor(fd, file);
        }
      }
      if (held) {
        return () -> LibC.unlockAndClose(fd, file);
      }
    }
    throw new IOException(file + " is replaced by another program again and again");
  }

  /** Whether the descriptor's file is the one the path names now, and not one deleted meanwhile. */
  private static boolean isSameFile(int fd, Path file) throws IOException {
    Path open = Path.of("/proc/self/fd/" + fd);
    if (!Files.exists(open, LinkOption.NOFOLLOW_LINKS)) {
      return Files.exists(file); // no /proc: macOS
    }
    try {
      return Files.readAttributes(open, "unix:dev,ino")
          .equals(Files.readAttributes(file, "unix:dev,ino"));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  @Override
  public long boot() {
    return Boot.ID;
  }

  private static final class Boot {
    static final long ID = id();

    private static long id() {
      try {
        CRC32C crc = new CRC32C();
        crc.update(Files.readString(BOOT_ID).strip().getBytes(StandardCharsets.US_ASCII));
        return crc.getValue();
      } catch (IOException e) {
        return 0; // no Linux
      }
    }
  }

  @Override
  public void fence() {
    LibC.fence();
  }
}
