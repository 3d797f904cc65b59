/**
 * The store-and-forward log: frames between one producer and one consumer, in memory or in a slot
 * directory on disk, as the store-and-forward client specification says (sections 5, 6, 17). It
 * does not look into frames.
 *
 * <p>Read in this order: {@link org.questdbsf.slot.SegmentFormat} (bytes), {@link
 * org.questdbsf.slot.SegmentRing} (append, read, acknowledge) with {@code RingState}, {@code
 * RingReader} and {@code RingUpkeep}, {@link org.questdbsf.slot.SegmentKeeper}, then for the disk
 * {@link org.questdbsf.slot.Slot} (opened by {@code SlotOpener}), {@code SlotLock}, {@code
 * SlotRecovery} with {@code SegmentScanner}, {@code SlotJudge} (by {@code SlotClues}) and what a
 * slot says of itself ({@code Marks}, in {@code AckWatermark} and {@code SlotWitness}, each a
 * {@code MarkFile}), and {@link org.questdbsf.slot.DiskIo}, through which every file is touched:
 * regular files of this user only ({@code OwnFiles}).
 *
 * <p>Nothing of {@code qwp}, {@code net}, {@code sender} or Spark comes in here. JNA is used by
 * {@code LibC} only, which is loaded when the first slot is opened.
 */
package org.questdbsf.slot;
