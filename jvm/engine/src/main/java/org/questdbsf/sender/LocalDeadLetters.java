package org.questdbsf.sender;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps dropped frames beside the slots, in {@code <sf_dir>/.rejected}: {@code <slot>-<fsn>.qwp}
 * with the message as it was sent, and {@code .txt} with the reason. Files are readable by their
 * owner only, since they hold rows, and appear whole or not at all. The same frame is kept once,
 * also when it is refused again after a crash.
 */
public final class LocalDeadLetters implements DeadLetterSink {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDeadLetters.class);
  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rw-------");
  private static final FileAttribute<?> OWNER_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path directory;

  /** Keeps them in {@code .rejected} under a directory of slots; made when first needed. */
  public LocalDeadLetters(Path sfDir) {
    this.directory = sfDir.resolve(".rejected");
  }

  @Override
  public synchronized String store(String slot, long fsn, byte[] frame, SenderError error)
      throws IOException {
    makeDirectory();
    Path file = place(slot, fsn, frame);
    byte[] reason = (error.describe() + "\n").getBytes(StandardCharsets.UTF_8);
    write(reasonBeside(file), reason);
    write(file, frame);
    force(directory);
    LOG.warn("Frame {} of {} is dropped and kept in {}: {}", fsn, slot, file, error.describe());
    return file.toString();
  }

  private void makeDirectory() throws IOException {
    try {
      Files.createDirectory(directory, OWNER_DIRECTORY);
      force(directory.getParent());
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw e;
      }
    }
  }

  /** FSNs begin anew in a slot that was emptied: another frame may have the name already. */
  private Path place(String slot, long fsn, byte[] frame) throws IOException {
    for (int n = 0; ; n++) {
      String name = String.format("%s-%016x%s.qwp", slot, fsn, n == 0 ? "" : "-" + n);
      Path file = directory.resolve(name);
      if (!Files.exists(file) || Arrays.equals(Files.readAllBytes(file), frame)) {
        return file;
      }
    }
  }

  private static Path reasonBeside(Path file) {
    String name = file.getFileName().toString();
    return file.resolveSibling(name.substring(0, name.length() - ".qwp".length()) + ".txt");
  }

  private static void write(Path file, byte[] bytes) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    Files.deleteIfExists(unfinished);
    Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(OWNER));
    // A stream, not a channel: an interrupt must not close it half-way.
    try (FileOutputStream out = new FileOutputStream(unfinished.toFile())) {
      out.write(bytes);
      out.getFD().sync();
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
