package org.questdbsf.slot;

import java.nio.file.Path;
import java.util.List;

/** Names and side files of slots under one {@code sf_dir}. */
public final class SlotDirectory {
  private SlotDirectory() {}

  /** All slots under a directory, by name; empty when the directory is not there. */
  public static List<SlotInfo> list(Path sfDir, DiskIo io) {
    throw new UnsupportedOperationException("SlotDirectory.list");
  }

  /**
   * {@code <prefix>-<n>} with the lowest n ≥ from whose lock is free and which holds no segments
   * and no {@code .failed}. Another process may take it first: then {@link Slot#open} says
   * SLOT_LOCKED, and the caller asks again from n + 1.
   */
  public static String firstFreeName(Path sfDir, String prefix, int from, DiskIo io) {
    throw new UnsupportedOperationException("SlotDirectory.firstFreeName");
  }
}
