package org.questdbsf.slot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories under one {@code sf_dir}: their names, what they hold, and making them.
 *
 * <pre>
 * sf_dir/
 *   .questdb-sf               says whose directory this is
 *   .slot-locks/SLOT.lock     see SlotLock
 *   SLOT/
 *     .lock  .lock.pid        see SlotLock
 *     sf-GENERATION.sfa       see SegmentFormat
 *     .ack-watermark          see AckWatermark
 *     .witness                see SlotWitness
 *     .target .failed .last_error   see SideFile
 * </pre>
 */
public final class SlotDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(SlotDirectory.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}");
  private static final String UNREPLAYABLE = ".unreplayable-";
  static final String MARKER = ".questdb-sf";
  private static final String MARKER_TEXT =
      "Store-and-forward slots of questdb-sf. Do not share this directory with another client"
          + " that\n"
          + "adopts orphaned slots (drain_orphans): it would ignore .target and send the rows to"
          + " its\n"
          + "own server.\n";

  private static final Set<String> NETWORK =
      Set.of(
          "nfs",
          "nfs3",
          "nfs4",
          "cifs",
          "smb2",
          "smb3",
          "smbfs",
          "afs",
          "ceph",
          "lustre",
          "9p",
          "beegfs",
          "gpfs",
          "gfs2",
          "ocfs2",
          "glusterfs",
          "webdav",
          "davfs");
  private static final Set<String> NETWORK_FUSE =
      Set.of(
          "sshfs",
          "s3fs",
          "s3fs-fuse",
          "goofys",
          "gcsfuse",
          "geesefs",
          "blobfuse",
          "blobfuse2",
          "rclone",
          "juicefs",
          "glusterfs",
          "ceph",
          "ceph-fuse",
          "cephfs",
          "mount-s3",
          "mountpoint-s3",
          "alluxio-fuse",
          "davfs",
          "hdfs",
          "fuse_dfs",
          "lizardfs",
          "moosefs",
          "mfs");
  private static final Set<String> TEMPORARY = Set.of("tmpfs", "ramfs", "overlay", "overlayfs");

  private static final Set<Path> WARNED = ConcurrentHashMap.newKeySet();

  private SlotDirectory() {}

  /**
   * All slots under a directory, by name; empty when the directory is not there. Takes no lock, so
   * what it says may have changed since. An interrupt does not disturb it. An entry that cannot be
   * read is in the list with its problem and hides no other.
   *
   * @throws SfException {@link ErrorCode#DISK_FAILED} when the directory itself cannot be read
   */
  public static List<SlotInfo> list(Path sfDir, DiskIo io) {
    try {
      if (!io.exists(sfDir)) {
        return List.of();
      }
      List<String> names = new ArrayList<>(io.list(sfDir));
      Collections.sort(names);
      List<SlotInfo> slots = new ArrayList<>();
      for (String name : names) {
        if (isName(name) && io.isDirectory(sfDir.resolve(name))) {
          slots.add(lookOrSay(sfDir, name, io));
        }
      }
      return slots;
    } catch (IOException e) {
      throw failed("list the slots of " + sfDir, e);
    }
  }

  /** One slot as seen from outside; a slot that is not there holds nothing. See {@link #list}. */
  public static SlotInfo inspect(Path sfDir, String name, DiskIo io) {
    if (!isName(name)) {
      throw badName(name);
    }
    try {
      return look(sfDir, name, io);
    } catch (IOException e) {
      throw failed("look at slot " + sfDir.resolve(name), e);
    }
  }

  private static SlotInfo lookOrSay(Path sfDir, String name, DiskIo io) {
    try {
      return look(sfDir, name, io);
    } catch (IOException e) {
      return SlotInfo.unreadable(name, sfDir.resolve(name), e);
    }
  }

  private static SlotInfo look(Path sfDir, String name, DiskIo io) throws IOException {
    Path directory = sfDir.resolve(name);
    List<String> files = io.exists(directory) ? io.list(directory) : List.of();
    LockHolders.Holder holder = SlotLock.holder(sfDir, name, io);
    return new SlotInfo(
        name,
        directory,
        files.stream().anyMatch(f -> f.endsWith(SegmentFormat.SUFFIX)),
        files.contains(SideFile.FAILED),
        name.contains(UNREPLAYABLE),
        holder.held(),
        holder.pid(),
        Optional.empty(),
        files.contains(SideFile.TARGET) ? SideFile.readTarget(directory, io) : Map.of());
  }

  /**
   * {@code <prefix>-<n>} with the lowest n ≥ from whose lock is free and which holds no segments
   * and no {@code .failed}; what cannot be looked at is taken. Another process may take it first:
   * then {@link Slot#open} says SLOT_LOCKED, and the caller asks again from n + 1.
   */
  public static String firstFreeName(Path sfDir, String prefix, int from, DiskIo io) {
    for (int n = from; ; n++) {
      String name = prefix + "-" + n;
      SlotInfo slot = lookOrSay(sfDir, name, io);
      if (slot.problem().isEmpty() && !slot.locked() && !slot.hasSegments() && !slot.failed()) {
        return name;
      }
    }
  }

  /**
   * Writes {@code .failed} into a slot that {@link Slot#open} refused, under its lock, and forces
   * it: adopters leave the slot alone until it is deleted. Not for a thread that may be
   * interrupted.
   *
   * @throws SfException {@link ErrorCode#SLOT_LOCKED} when somebody holds it now, {@link
   *     ErrorCode#DISK_FAILED} when it cannot be written
   */
  public static void markFailed(Path sfDir, String name, String reason, DiskIo io) {
    if (!isName(name)) {
      throw badName(name);
    }
    try {
      SlotLock lock = SlotLock.acquire(sfDir, name, io);
      try (lock) {
        SideFile.write(sfDir.resolve(name), SideFile.FAILED, reason + "\n", io);
      }
    } catch (IOException e) {
      throw failed("mark slot " + sfDir.resolve(name) + " as failed", e);
    }
  }

  /** Whether this is a plain directory name that a slot may have. */
  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static SfException badName(String name) {
    return new SfException(
        ErrorCode.CONFIG_INVALID_VALUE,
        "'"
            + name
            + "' cannot name a slot; use 1 to 200 of A-Z a-z 0-9 _ - and, not in first place, ."
            + " (sender_id)");
  }

  /**
   * Makes the directories of a slot, each forced with its parent, and returns the slot's. Refuses
   * file systems whose locks and maps cannot be relied on. Makes nothing beside a slot that is
   * there already.
   */
  static Path prepare(Path sfDir, String name, DiskIo io) throws IOException {
    if (System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows")) {
      throw new SfException(
          ErrorCode.SLOT_FILESYSTEM,
          "sf_dir=" + sfDir + ": slots on disk are not supported on Windows; leave sf_dir out");
    }
    Path root = sfDir.toAbsolutePath().normalize();
    Deque<Path> missing = new ArrayDeque<>();
    Path there = root;
    while (!io.exists(there)) {
      missing.push(there);
      there = there.getParent();
    }
    checkFileSystem(root, io.fileSystemType(there));
    while (!missing.isEmpty()) {
      make(missing.pop(), io);
    }
    Path directory = root.resolve(name);
    if (!io.exists(directory)) {
      make(directory, io);
    } else if (!io.isDirectory(directory)) {
      throw new IOException(directory + " is not a directory");
    }
    return directory;
  }

  /** Says whose directory it is, now that one of its slots is in use. */
  static void mark(Path root, DiskIo io) throws IOException {
    Path marker = root.resolve(MARKER);
    if (!io.exists(marker)) {
      io.rewrite(marker, MARKER_TEXT.getBytes(StandardCharsets.UTF_8)); // others write the same
      io.force(marker);
      io.forceDirectory(root);
    }
  }

  static void make(Path directory, DiskIo io) throws IOException {
    try {
      io.createDirectory(directory);
    } catch (IOException e) {
      if (!io.isDirectory(directory)) { // else another process made it in between
        throw e;
      }
    }
    io.forceDirectory(directory);
    io.forceDirectory(directory.getParent());
  }

  private static void checkFileSystem(Path root, String type) {
    String t = type.toLowerCase(Locale.ROOT);
    boolean fuse = t.startsWith("fuse.") && NETWORK_FUSE.contains(t.substring("fuse.".length()));
    if (NETWORK.contains(t) || fuse) {
      throw new SfException(
          ErrorCode.SLOT_FILESYSTEM,
          "sf_dir="
              + root
              + " is on the network file system '"
              + type
              + "', where locks and mapped files cannot be relied on; use a local disk");
    }
    if (TEMPORARY.contains(t) && WARNED.add(root)) {
      LOG.warn(
          "sf_dir={} is on '{}', which does not outlive this host or container; rows that wait"
              + " there are lost with it",
          root,
          type);
    } else if (root.startsWith(System.getProperty("java.io.tmpdir")) && WARNED.add(root)) {
      LOG.warn("sf_dir={} is under the directory for temporary files, which may be emptied", root);
    }
  }

  /** An error of the disk, told as ours. */
  static SfException failed(String what, IOException e) {
    ErrorCode code = e instanceof DiskFullException ? ErrorCode.DISK_FULL : ErrorCode.DISK_FAILED;
    return new SfException(code, "cannot " + what + ": " + e, e);
  }
}
