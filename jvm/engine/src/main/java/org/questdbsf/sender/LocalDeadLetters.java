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
 * also when it is refused again after a crash. A row that was in no frame is {@code
 * <slot>-row-<milliseconds since 1970>.qwp}.
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
    Path file = fsn == NO_FRAME ? placeForRow(slot, error) : placeForFrame(slot, fsn, frame);
    byte[] reason = (error.describe() + "\n").getBytes(StandardCharsets.UTF_8);
    write(reasonBeside(file), reason);
    write(file, frame);
    force(directory);
    String what = fsn == NO_FRAME ? "A row that fits no frame" : "Frame " + fsn;
    LOG.warn("{} of {} is dropped and kept in {}: {}", what, slot, file, error.describe());
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
  private Path placeForFrame(String slot, long fsn, byte[] frame) throws IOException {
    String name = String.format("%s-%016x", slot, fsn);
    for (int n = 0; ; n++) {
      Path file = numbered(name, n);
      if (!Files.exists(file) || Arrays.equals(Files.readAllBytes(file), frame)) {
        return file;
      }
    }
  }

  private Path placeForRow(String slot, SenderError error) {
    String name = slot + "-row-" + error.at().toEpochMilli();
    int n = 0;
    while (Files.exists(numbered(name, n))) {
      n++;
    }
    return numbered(name, n);
  }

  private Path numbered(String name, int n) {
    return directory.resolve(name + (n == 0 ? "" : "-" + n) + ".qwp");
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
