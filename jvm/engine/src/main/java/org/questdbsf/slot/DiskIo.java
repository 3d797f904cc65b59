package org.questdbsf.slot;

/** The only place that opens, maps, forces, renames, deletes or lists files. */
public interface DiskIo {
  /** The real disk. */
  DiskIo PRODUCTION = new DiskIo() {};
}
