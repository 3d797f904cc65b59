package org.questdbsf.slot;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The log of frames between one producer and one consumer, in memory or on disk. Frame sequence
 * numbers (FSN) count up by one from 0, or from where a recovered slot ends. One thread appends,
 * one thread reads and acknowledges, and the {@link SegmentKeeper} does everything that may wait.
 * The same code serves memory and disk; what differs is behind {@link SegmentStorage}.
 *
 * <p>An append is a bounds check, a checksum of heap bytes, two bulk copies and one release store:
 * no lock, no allocation, no system call. Only when a segment is full does it take the spare that
 * the keeper made, or wait for one; and the first append after a pause wakes the keeper.
 */
public final class SegmentRing implements AutoCloseable {
  /**
   * Bytes after which the producer puts up a fence ({@link SegmentStorage#fence}). A fault in a map
   * comes out only there, so this bounds what may be published and lost; checksums find those
   * frames when they are read. At half a microsecond a fence costs under 4 ns a frame of 500 bytes.
   */
  static final int FENCE_INTERVAL_BYTES = 1 << 16;

  private final RingState state;
  private final SegmentKeeper.Ticket ticket;
  private final RingUpkeep upkeep;
  private final RingReader reader;

  // The producer's own.
  private final CRC32C crc = new CRC32C();
  private final byte[] header = new byte[SegmentFormat.FRAME_HEADER_BYTES];
  private final ByteBuffer headerView = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
  private final int maxFrameBytes;
  private Segment active;
  private int position;
  private int unfenced;
  private long nextFsn;
  private final StallReport stalls;
  private Runnable wakeUp = VarHandle::fullFence;

  /** A ring over segments that recovery found; none: {@code active} is null. Only to be read. */
  SegmentRing(RingState state, Segment active, SegmentKeeper keeper) {
    this.state = state;
    this.active = active;
    this.nextFsn = state.publishedFsn() + 1;
    this.maxFrameBytes = (int) state.settings.segmentBytes() - SegmentFormat.OVERHEAD_BYTES;
    this.reader = new RingReader(state);
    this.stalls = new StallReport(state);
    this.upkeep = new RingUpkeep(state, System.nanoTime());
    this.ticket = keeper.add(upkeep);
  }

  /**
   * From now on it is appended to and looked after.
   *
   * @param at where the newest segment goes on; its capacity when it takes no more
   * @param onDisk what the slot's files say
   */
  void start(int at, Marks onDisk) {
    position = at;
    upkeep.begin(onDisk);
    state.share.claim(this::wakeKeeper);
    wakeKeeper();
  }

  private void wakeKeeper() {
    ticket.wake();
  }

  /**
   * A ring in this process's memory.
   *
   * @param settings only the segment size counts
   * @param share this ring's part of the budget; the ring closes it
   * @param keeper usually {@link SegmentKeeper#shared}
   */
  public static SegmentRing memory(
      RingSettings settings, SegmentBudget.Share share, SegmentKeeper keeper) {
    RingState state =
        new RingState(
            "(memory)",
            new MemoryStorage((int) settings.segmentBytes()),
            share,
            settings,
            null,
            -1,
            -1,
            -1);
    SegmentRing ring = new SegmentRing(state, null, keeper);
    ring.start(0, Marks.EMPTY);
    return ring;
  }

  /**
   * Publishes one frame; producer thread only. Waits for room, interruptibly; an interrupt leaves
   * the ring as it was.
   *
   * @param frame holds the frame, a complete QWP message
   * @param off where it begins
   * @param len its length, 1 to {@link #maxFrameBytes}
   * @param deadlineMillis longest wait for room, below 0 for none
   * @param stallDetail what the sender is doing (publishing or reconnecting, host, attempts, outage
   *     since), for the message of a time-out
   * @return the frame's FSN
   * @throws SfException {@link ErrorCode#FRAME_TOO_LARGE}; {@link ErrorCode#BACKPRESSURE_TIMEOUT}
   *     when there was no room until the deadline; {@link ErrorCode#DISK_FAILED} when the ring has
   *     failed or no segment could be made; {@link ErrorCode#SENDER_CLOSED}. In all cases nothing
   *     was published.
   */
  public long append(
      byte[] frame, int off, int len, long deadlineMillis, Supplier<String> stallDetail)
      throws InterruptedException {
    state.checkUsable();
    Objects.checkFromIndexSize(off, len, frame.length);
    if (len < 1 || len > maxFrameBytes) {
      throw badLength(len);
    }
    final int bytes = SegmentFormat.FRAME_HEADER_BYTES + len;
    if (active == null || bytes > active.capacity() - position) {
      rotate(len, deadlineMillis, stallDetail);
    }
    try {
      headerView.putInt(4, len);
      crc.reset();
      crc.update(header, 4, 4);
      crc.update(frame, off, len);
      headerView.putInt(0, (int) crc.getValue());
      active.write(position, header, frame, off, len);
      unfenced += bytes;
      if (unfenced >= FENCE_INTERVAL_BYTES) {
        fence();
      }
      position += bytes;
      state.publish(nextFsn);
      wakeUp.run();
      if (!upkeep.watching()) { // behind the fence of wakeUp; the other half is in RingUpkeep
        ticket.wake();
      }
    } catch (InternalError e) { // of this frame or an earlier one: it may come out late
      throw state.poison(e, active);
    }
    return nextFsn++;
  }

  private void fence() {
    unfenced = 0;
    state.storage.fence();
  }

  private SfException badLength(int len) {
    if (len < 1) {
      return new SfException(
          ErrorCode.FRAME_TOO_LARGE, "slot " + state.slot + ": a frame of no bytes cannot be kept");
    }
    return new SfException(
        ErrorCode.FRAME_TOO_LARGE,
        "slot "
            + state.slot
            + ": a frame of "
            + len
            + " bytes does not fit a segment; at most sf_max_segment_bytes - "
            + SegmentFormat.OVERHEAD_BYTES
            + " = "
            + maxFrameBytes
            + ". Make frames smaller (frame_bytes, frame_rows) or segments larger");
  }

  private void rotate(int len, long deadlineMillis, Supplier<String> stallDetail)
      throws InterruptedException {
    Segment next = state.spare.getAndSet(null);
    if (next == null) {
      next = awaitSpare(len, deadlineMillis, stallDetail);
    }
    try {
      fence();
      next.begin(nextFsn);
    } catch (InternalError e) {
      throw state.poison(e, active);
    }
    if (active == null) {
      state.head = next;
    } else {
      active.link(next);
    }
    active = next;
    position = SegmentFormat.HEADER_BYTES;
    ticket.wake();
  }

  private Segment awaitSpare(int len, long deadlineMillis, Supplier<String> stallDetail)
      throws InterruptedException {
    final long start = System.nanoTime();
    boolean counted = false;
    state.takeSpareTrouble(); // an old one: the keeper tries again now
    ticket.wake();
    while (true) {
      final RingState.Shortage shortage = state.shortage();
      Segment made = state.spare.getAndSet(null);
      if (made != null) {
        return made;
      }
      state.checkUsable();
      SfException trouble = state.takeSpareTrouble();
      if (trouble != null) {
        throw trouble;
      }
      long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (deadlineMillis >= 0 && waited >= deadlineMillis) {
        throw new SfException(
            ErrorCode.BACKPRESSURE_TIMEOUT,
            stalls.describe(len, shortage, waited, stallDetail)
                + "; wait longer (sf_append_deadline_millis), give more room, or mend what keeps"
                + " the server from acknowledging");
      }
      if (shortage != RingState.Shortage.NONE && !counted) {
        counted = true;
        state.stalls++;
      }
      stalls.warn(len, shortage, waited, stallDetail);
      long left = deadlineMillis < 0 ? StallReport.WARN_MILLIS : deadlineMillis - waited;
      state.awaitSpare(shortage, Math.min(left, StallReport.WARN_MILLIS));
    }
  }

  /** The largest frame that fits: segment size − 32. */
  public int maxFrameBytes() {
    return maxFrameBytes;
  }

  /**
   * Returns when all that was published before the call is on stable storage, names included; at
   * once for a memory ring. Producer thread only. An interrupt ends the wait and harms nothing.
   *
   * @throws SfException {@link ErrorCode#DISK_FAILED} when the force failed, and from then on for
   *     ever: what the system did with the pages is not known
   */
  public void force() throws InterruptedException {
    state.checkUsable();
    if (!state.storage.durable()) {
      return;
    }
    fenceOrPoison();
    final long target = nextFsn - 1;
    if (state.forcedFsn < target) {
      state.forceTarget = target;
      ticket.wake();
      state.awaitForced(target);
    }
    state.checkUsable();
  }

  /**
   * Makes what was published as safe as the ring's durability asks: with FLUSH as {@link #force};
   * else it only has faults of the maps come out, and does not wait for the disk. Producer thread
   * only.
   *
   * @throws SfException as {@link #force}
   */
  public void settle() throws InterruptedException {
    if (state.settings.durability() == Durability.FLUSH) {
      force();
      return;
    }
    state.checkUsable();
    fenceOrPoison();
  }

  private void fenceOrPoison() {
    try {
      fence();
    } catch (InternalError e) {
      throw state.poison(e, active);
    }
  }

  /** FSN of the newest published frame, −1 when there never was one. Any thread. */
  public long publishedFsn() {
    return state.publishedFsn();
  }

  /** Highest acknowledged FSN, −1 when there is none. Any thread. */
  public long ackedFsn() {
    return state.ackedFsn;
  }

  /** Bytes in this ring's segments, the spare included. Any thread. */
  public long bytesUsed() {
    return state.share.usedBytes();
  }

  /** The total of the budget that this ring shares. Any thread. */
  public long capacityBytes() {
    return state.share.totalBytes();
  }

  /** How often a producer had to wait for room. Any thread. */
  public long backpressureStalls() {
    return state.stalls;
  }

  /** Why the ring takes no more frames, if so; it can still be read. Any thread. */
  public Optional<SfException> failure() {
    return Optional.ofNullable(state.failure());
  }

  /**
   * Ends appending for good, because nobody will send what is appended: waiting and later appends
   * throw, what is there can still be read. The first reason stays. Any thread.
   */
  public void refuse(SfException reason) {
    state.fail(reason);
  }

  /**
   * Set once, before the first append: run by the producer after each publication. Must be cheap
   * and must not throw, and puts up a full fence before it looks at who waits: a publication alone
   * is a release store, which a look behind it may overtake. The ring's own look at its keeper
   * relies on the same fence, so that a frame costs one and not two.
   */
  public void onPublished(Runnable action) {
    this.wakeUp = Objects.requireNonNull(action);
  }

  /**
   * Length of a frame, −1 when it is not published yet. Consumer thread only. Cheap for the FSN of
   * the last call and the one behind it; any other is looked up.
   *
   * @param fsn above {@link #ackedFsn}
   * @throws SfException {@link ErrorCode#DISK_FAILED} when the frame's header is damaged
   */
  public int frameLength(long fsn) {
    return reader.frameLength(fsn);
  }

  /**
   * Copies a frame out, then checks the copy. Consumer thread only.
   *
   * @param fsn above {@link #ackedFsn}, at most {@link #publishedFsn}
   * @param dst has room for {@link #frameLength} bytes from {@code off}
   * @throws SfException {@link ErrorCode#DISK_FAILED} naming slot, segment, offset and FSN; what is
   *     in {@code dst} must not be used then
   */
  public void copyFrame(long fsn, byte[] dst, int off) {
    reader.copyFrame(fsn, dst, off);
  }

  /**
   * Acknowledges everything up to and including an FSN: cumulative, never backwards, clamped to
   * what is published. Consumer thread only; also the way to retire frames that must never be sent.
   * The keeper destroys wholly acknowledged segments later.
   */
  public void acknowledge(long fsn) {
    reader.acknowledge(fsn);
    Segment oldest = state.head;
    if ((oldest != null && oldest.endsBy(state.ackedFsn)) || !upkeep.watching()) {
      ticket.wake();
    }
  }

  /**
   * Ends the ring: waiting producers get {@link ErrorCode#SENDER_CLOSED}, and the share goes back.
   * The consumer must have stopped. The ring of a {@link Slot} is closed by the slot, which decides
   * what stays on disk. A second call does nothing.
   */
  @Override
  public void close() {
    if (detach()) {
      state.share.close();
    }
  }

  /** Stops everything that touches segments; false when that was done before. */
  boolean detach() {
    synchronized (state) {
      if (state.closed) {
        return false;
      }
      state.close();
    }
    ticket.remove();
    return true;
  }
}
