package org.questdbsf.sender;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.SegmentRing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a sender: drain, stop the loop, tell the handler, give ring and slot back, and throw what
 * nobody heard of (client spec, section on close). Runs once, whoever calls first.
 */
final class SenderCloser {
  private static final Logger LOG = LoggerFactory.getLogger(SenderCloser.class);

  /** Publishes what the producer gathered. */
  @FunctionalInterface
  interface Rest {
    void publish() throws InterruptedException;
  }

  private final LoopSetup setup;
  private final SendLoop loop;
  private final AutoCloseable storage;
  private volatile DrainerPool drainers;
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * @param storage the slot, or the ring in memory
   */
  SenderCloser(LoopSetup setup, SendLoop loop, AutoCloseable storage) {
    this.setup = setup;
    this.loop = loop;
    this.storage = storage;
  }

  /** The adopter that belongs to this sender, or null; before anybody can close. */
  void drainers(DrainerPool pool) {
    drainers = pool;
  }

  /** The adopter that belongs to this sender. */
  Optional<DrainerPool> drainers() {
    return Optional.ofNullable(drainers);
  }

  void checkOpen() {
    if (closing.get()) {
      throw setup.status().closed();
    }
  }

  void discard() {
    if (closing.compareAndSet(false, true)) {
      SfException failure = release(LoopControl.Stop.DISCARD);
      if (failure != null) {
        LOG.warn("sender '{}': discarded, with a failure", setup.name(), failure);
      }
    }
  }

  void close(Rest rest) {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    SfException failure = null;
    try {
      rest.publish();
      drain();
    } catch (InterruptedException e) {
      LOG.warn("sender '{}': interrupted while closing; not drained", setup.name());
      Thread.currentThread().interrupt();
    } catch (SfException e) {
      // The terminal error is thrown at the end, and only if nobody heard of it.
      failure = setup.status().terminalError().isPresent() ? null : e;
    } catch (RuntimeException | Error e) { // thread, ring and slot are given back all the same
      failure = unclosed(e);
    }
    SfException atRelease = release(LoopControl.Stop.CLOSE);
    warnOfDropped();
    setup.status().checkUnseenError();
    if (failure != null || atRelease != null) {
      throw failure != null ? failure : atRelease;
    }
  }

  /** Waiting for acknowledgements does not fail for what was dropped: it must be seen somewhere. */
  private void warnOfDropped() {
    long rows = setup.counters().rowsDropped();
    if (rows > 0) {
      LOG.warn(
          "sender '{}': closed; rows that servers refused and that are in no table: {}; {}",
          setup.name(),
          rows,
          setup.deadLetters() == null ? "they were not kept" : "they were kept as dead letters");
    }
  }

  private void drain() throws InterruptedException {
    long millis = setup.config().closeFlushTimeoutMillis();
    SegmentRing ring = setup.ring();
    long published = ring.publishedFsn();
    if (millis <= 0 || setup.status().terminalError().isPresent()) {
      return;
    }
    if (!setup.status().awaitQuietly(() -> ring.ackedFsn() >= published, millis)) {
      LOG.warn(
          "sender '{}': closed after {} ms (close_flush_timeout_millis) with frames {} to {} not"
              + " acknowledged; {}",
          setup.name(),
          millis,
          ring.ackedFsn() + 1,
          published,
          storage == ring ? "they are lost" : "they stay in the slot");
    }
  }

  /** Stops everything and gives it back; the first failure is returned. */
  private SfException release(LoopControl.Stop how) {
    loop.stop(how);
    boolean stopped = loop.join();
    setup.inbox().close();
    SfException failure = null;
    if (drainers != null) {
      failure = closed(drainers);
    }
    if (!stopped) {
      // Taking segments from a running reader could end the whole process.
      LOG.error("sender '{}': its thread did not end; ring and slot stay open", setup.name());
      return failure;
    }
    return first(failure, closed(storage));
  }

  private static SfException first(SfException a, SfException b) {
    return a != null ? a : b;
  }

  private SfException closed(AutoCloseable part) {
    try {
      part.close();
      return null;
    } catch (SfException e) {
      return e;
    } catch (Exception e) {
      return unclosed(e);
    }
  }

  private SfException unclosed(Throwable e) {
    return new SfException(
        ErrorCode.INTERNAL_FAULT, "sender '" + setup.name() + "' could not be closed: " + e, e);
  }
}
