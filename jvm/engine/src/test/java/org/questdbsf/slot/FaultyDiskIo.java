package org.questdbsf.slot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The real disk, with faults: the n-th call fails, once or for ever, or every call of some name;
 * and what a power cut would leave of what was not forced can be written to another directory.
 */
class FaultyDiskIo implements DiskIo {
  private static final int BLOCK = 512;

  /** A file's bytes as of its last force, null before the first. */
  private static final class Node {
    byte[] forced;
    byte[] last = new byte[0];
  }

  private final DiskIo real = DiskIo.PRODUCTION;
  private final List<String> log = new ArrayList<>();
  private final Map<Path, Node> live = new HashMap<>();
  private final Map<Path, Map<Path, Node>> forcedNames = new HashMap<>();
  private long boots;
  private int failAt;
  private boolean forEver;
  private boolean full;
  private String failName;
  private boolean faultAtFence;

  /** Fails a call, counted from 1 from now on; 0 for none. */
  synchronized void failAt(int call, boolean andAllLater) {
    log.clear();
    failAt = call;
    forEver = andAllLater;
  }

  /** Fails all calls of that name, {@code "operation file"}; null for none. */
  synchronized void failWhere(String operationAndFile) {
    failName = operationAndFile;
  }

  /** Lets the disk be full for new segments. */
  synchronized void full(boolean now) {
    full = now;
  }

  /** Lets the next fence tell of a fault in a map. */
  synchronized void faultAtFence(boolean now) {
    faultAtFence = now;
  }

  /** As after the host went down and came up again. */
  static FaultyDiskIo afterReboot() {
    FaultyDiskIo io = new FaultyDiskIo();
    io.boots = 1;
    return io;
  }

  /** Calls so far, {@code "operation file"} each. */
  synchronized List<String> log() {
    return new ArrayList<>(log);
  }

  private synchronized void step(String operation, Path path) throws IOException {
    String call = operation + " " + path.getFileName();
    log.add(call);
    int n = log.size();
    if ((failAt > 0 && (forEver ? n >= failAt : n == failAt)) || call.equals(failName)) {
      throw new IOException("injected at call " + n + ": " + call);
    }
  }

  private synchronized Node node(Path path) {
    return live.computeIfAbsent(
        path,
        p -> {
          Node node = new Node();
          if (Files.isRegularFile(p)) { // there before us: forced, name and all
            node.forced = bytes(p);
            forcedNames.computeIfAbsent(p.getParent(), d -> new LinkedHashMap<>()).put(p, node);
          }
          return node;
        });
  }

  private static byte[] bytes(Path path) {
    try {
      return Files.readAllBytes(path);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Writes what a power cut now might leave of a directory: of every name and block that is not
   * forced either the old or the new state.
   */
  synchronized void cutPower(Path directory, Path to, Random random) throws IOException {
    Map<Path, Node> names = new LinkedHashMap<>(forcedNames.getOrDefault(directory, Map.of()));
    live.forEach(
        (path, node) -> {
          if (path.getParent().equals(directory) && Files.isRegularFile(path)) {
            node.last = bytes(path);
            if (random.nextBoolean()) {
              names.put(path, node);
            }
          }
        });
    names.keySet().removeIf(p -> !Files.exists(p) && random.nextBoolean());
    Files.createDirectories(to);
    for (var e : names.entrySet()) {
      Files.write(to.resolve(e.getKey().getFileName()), mix(e.getValue(), random));
    }
  }

  private static byte[] mix(Node node, Random random) {
    byte[] old = node.forced == null ? new byte[0] : node.forced;
    byte[] mixed = Arrays.copyOf(node.last, Math.max(old.length, node.last.length));
    for (int at = 0; at < mixed.length; at += BLOCK) {
      if (random.nextBoolean()) {
        for (int i = at; i < Math.min(at + BLOCK, mixed.length); i++) {
          mixed[i] = i < old.length ? old[i] : 0;
        }
      }
    }
    return mixed;
  }

  @Override
  public List<String> list(Path directory) throws IOException {
    step("list", directory);
    return real.list(directory);
  }

  @Override
  public boolean exists(Path path) throws IOException {
    step("exists", path);
    return real.exists(path);
  }

  @Override
  public boolean isDirectory(Path path) throws IOException {
    step("isDirectory", path);
    return real.isDirectory(path);
  }

  @Override
  public void createDirectory(Path directory) throws IOException {
    step("createDirectory", directory);
    real.createDirectory(directory);
  }

  @Override
  public byte[] readHead(Path file, int limit) throws IOException {
    step("readHead", file);
    return real.readHead(file, limit);
  }

  @Override
  public byte[] read(Path file, int limit) throws IOException {
    step("read", file);
    return real.read(file, limit);
  }

  @Override
  public Reader open(Path file) throws IOException {
    step("open", file);
    Reader reader = real.open(file);
    return new Reader() {
      @Override
      public long size() throws IOException {
        step("size", file);
        return reader.size();
      }

      @Override
      public int read(ByteBuffer dst, long at) throws IOException {
        step("readAt", file);
        return reader.read(dst, at);
      }

      @Override
      public void close() throws IOException {
        reader.close();
      }
    };
  }

  @Override
  public void write(Path file, long at, byte[] bytes) throws IOException {
    step("write", file);
    node(file);
    real.write(file, at, bytes);
  }

  @Override
  public void rewrite(Path file, byte[] bytes) throws IOException {
    step("rewrite", file);
    node(file);
    real.rewrite(file, bytes);
  }

  @Override
  public void create(Path file, long bytes) throws IOException {
    step("create", file);
    synchronized (this) {
      if (full) {
        throw new DiskFullException("injected: no room for " + file, null);
      }
    }
    node(file);
    real.create(file, bytes);
  }

  @Override
  public void reserve(Path file, long bytes) throws IOException {
    step("reserve", file);
    synchronized (this) {
      if (full) {
        throw new DiskFullException("injected: no room for " + file, null);
      }
    }
    real.reserve(file, bytes);
  }

  @Override
  public Region map(Path file, int bytes) throws IOException {
    step("map", file);
    Node node = node(file);
    Region region = real.map(file, bytes);
    return new Region() {
      @Override
      public ByteBuffer bytes() {
        return region.bytes();
      }

      @Override
      public void force() throws IOException {
        step("forceMap", file);
        region.force();
        synchronized (FaultyDiskIo.this) {
          node.forced = FaultyDiskIo.bytes(file);
        }
      }

      @Override
      public void unmap() {
        region.unmap();
      }
    };
  }

  @Override
  public void force(Path file) throws IOException {
    step("force", file);
    real.force(file);
    Node node = node(file);
    synchronized (this) {
      node.forced = bytes(file);
    }
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    step("forceDirectory", directory);
    real.forceDirectory(directory);
    synchronized (this) {
      Map<Path, Node> names = new LinkedHashMap<>();
      live.forEach(
          (path, node) -> {
            if (path.getParent().equals(directory) && Files.exists(path)) {
              names.put(path, node);
            }
          });
      forcedNames.put(directory, names);
    }
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    step("rename", from);
    Node node = node(from);
    real.rename(from, to);
    synchronized (this) {
      live.remove(from);
      live.put(to, node);
    }
  }

  @Override
  public void delete(Path file) throws IOException {
    step("delete", file);
    if (Files.isRegularFile(file)) {
      Node node = node(file);
      synchronized (this) {
        node.last = bytes(file);
        live.remove(file);
      }
    }
    real.delete(file);
  }

  @Override
  public long usableBytes(Path directory) throws IOException {
    step("usableBytes", directory);
    return real.usableBytes(directory);
  }

  @Override
  public String fileSystemType(Path path) throws IOException {
    step("fileSystemType", path);
    return real.fileSystemType(path);
  }

  @Override
  public Lock lock(Path file) throws IOException {
    step("lock", file);
    Lock lock = real.lock(file);
    return lock == null
        ? null
        : () -> {
          lock.close();
          step("unlock", file);
        };
  }

  @Override
  public long boot() {
    return real.boot() + boots;
  }

  @Override
  public void fence() {
    synchronized (this) {
      if (faultAtFence) {
        faultAtFence = false;
        throw new InternalError("injected: a fault occurred in an unsafe memory access");
      }
    }
    real.fence();
  }
}
