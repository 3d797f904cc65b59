package org.questdbsf.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.SenderState;

/**
 * The lanes of one executor JVM for one set of settings. A running task borrows one for itself;
 * when all of {@code max_lanes} are out, it waits, and an interrupt ends the wait. Thread-safe.
 */
final class LanePool {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long FORGET_NANOS = TimeUnit.HOURS.toNanos(1);

  private final LaneSettings settings;
  private final int maxLanes;
  private final LaneOpener opener;
  private final PoolNews news;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition laneFree = lock.newCondition();
  private final ArrayDeque<Lane> idle = new ArrayDeque<>();
  private final Set<Lane> lent = new LinkedHashSet<>();

  /** Lanes that take no more rows and close when what they hold is acknowledged. */
  private final Set<Lane> retired = new LinkedHashSet<>();

  /** Lanes that are being closed. */
  private final Set<Lane> leaving = new LinkedHashSet<>();

  private final ArrayDeque<SfException> untold = new ArrayDeque<>();
  private int opening;
  private int buried;
  private boolean closed;
  private long lastUsed = System.nanoTime();

  /**
   * A pool without lanes yet.
   *
   * @param adopter what sends the slots of ended processes, or null
   */
  LanePool(LaneSettings settings, int maxLanes, Adopter adopter, LaneOpener.Factory openers) {
    this.news = new PoolNews(adopter, settings.queryId());
    this.settings = settings;
    this.maxLanes = maxLanes;
    this.opener =
        openers.open(
            (error, slot, frames) -> tell(SfErrorEvent.of(error, slot, frames, news.queryId())),
            news.suspended());
  }

  /**
   * Borrows a lane; empty when this pool was closed, and the caller should ask for the pool again.
   *
   * @throws SfException an error of an earlier task's rows that nobody was told of yet, or why no
   *     lane can be opened
   */
  Lane borrow() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (true) {
        if (closed) {
          return null;
        }
        lastUsed = System.nanoTime();
        if (!untold.isEmpty()) {
          laneFree.signal(); // what this task was woken for is for another one
          throw untold.removeFirst();
        }
        Lane lane = idle.pollLast();
        if (lane == null && lent.size() + opening < maxLanes) {
          break;
        }
        if (lane == null) {
          laneFree.await();
        } else if (lane.failed()) {
          bury(lane);
        } else {
          lent.add(lane);
          return lane;
        }
      }
      opening++;
    } finally {
      lock.unlock();
    }
    return opened();
  }

  private Lane opened() throws InterruptedException {
    boolean handed = false;
    try {
      Lane lane = LaneRoom.await(opener, opener.usesDisk() ? this::openElsewhere : opener::open);
      handed = true;
      enter(lane, false);
      return lane;
    } catch (OpeningElsewhere.AbandonedException e) {
      handed = true;
      throw e.interrupt();
    } finally {
      if (!handed) {
        failedToOpen();
      }
    }
  }

  /** A lane that came after its task had gone is the next one's. */
  private Lane openElsewhere() {
    return OpeningElsewhere.open(
        opener,
        (lane, failure) -> {
          if (failure == null) {
            enter(lane, true);
          } else {
            failedToOpen();
          }
        });
  }

  private void enter(Lane lane, boolean asIdle) {
    lock.lock();
    try {
      opening--;
      if (asIdle) {
        lane.idleFrom(System.nanoTime());
        idle.addLast(lane);
        laneFree.signal();
      } else {
        lent.add(lane);
      }
    } finally {
      lock.unlock();
    }
  }

  private void failedToOpen() {
    lock.lock();
    try {
      opening--;
      laneFree.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Takes a lane back whose task committed, or which keeps its frames on disk. */
  void giveBack(Lane lane) {
    lock.lock();
    try {
      if (!lent.remove(lane)) {
        return;
      }
      lane.idleFrom(System.nanoTime());
      if (lane.failed()) {
        bury(lane);
      } else if (lane.mustRetire()) {
        retired.add(lane);
        Housekeeper.soon(this::tidy);
      } else {
        idle.addLast(lane);
      }
      laneFree.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Ends a lane in memory at once: its rows never go out later, Spark sends them again. */
  void discard(Lane lane) {
    lock.lock();
    try {
      if (!lent.remove(lane)) {
        return;
      }
      leaving.add(lane);
      laneFree.signal();
    } finally {
      lock.unlock();
    }
    try {
      lane.sender().discard();
    } finally {
      // Not sooner: what its server says until the end is counted.
      left(lane);
    }
  }

  private void left(Lane lane) {
    lock.lock();
    try {
      leaving.remove(lane);
      news.departed(lane);
    } finally {
      lock.unlock();
    }
  }

  /** Puts a failed lane away; on disk its rows were committed, so somebody must be told. */
  private void bury(Lane lane) {
    news.departed(lane);
    SfException error = lane.terminal();
    if (settings.options().commitOn().onDisk() && error != null) {
      buried++;
      untold.addLast(
          new SfException(
              error.code(),
              "rows of an earlier task stay in slot "
                  + lane.place()
                  + "; look at it with questdb-sf slots show. "
                  + RowEncoder.withoutCode(error.code(), error.getMessage()),
              error));
    }
    Housekeeper.apart(lane::bury);
  }

  /**
   * Has lanes closed that are idle for long, or retired, once what they hold is acknowledged. Waits
   * for none of them.
   */
  void tidy() {
    List<Lane> ended = new ArrayList<>();
    lock.lock();
    try {
      long now = System.nanoTime();
      collect(idle.iterator(), now, IDLE_NANOS, ended);
      collect(retired.iterator(), now, 0, ended);
      while (news.hasAdopter() && retired.size() > maxLanes) {
        Lane oldest = retired.iterator().next(); // the adopter sends the rest, a few at a time
        retired.remove(oldest);
        ended.add(oldest);
      }
      leaving.addAll(ended);
    } finally {
      lock.unlock();
    }
    ended.forEach(lane -> Housekeeper.apart(() -> end(lane)));
  }

  private void end(Lane lane) {
    try {
      lane.end();
    } finally {
      left(lane);
    }
  }

  private void collect(java.util.Iterator<Lane> lanes, long now, long idleNanos, List<Lane> ended) {
    while (lanes.hasNext()) {
      Lane lane = lanes.next();
      if (lane.failed()) {
        lanes.remove();
        bury(lane);
      } else if (lane.drained() && lane.idleNanos(now) >= idleNanos) {
        lanes.remove();
        ended.add(lane);
      }
    }
  }

  /**
   * Closes the pool if nothing used it for long. Not sooner: its next task is to claim what its
   * last one could not report.
   */
  boolean closeIfUnused() {
    lock.lock();
    try {
      closed = closed || empty() && System.nanoTime() - lastUsed > FORGET_NANOS;
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the driver was told everything by now, also how the last lanes ended. */
  boolean quiet() {
    lock.lock();
    try {
      return empty() && news.areOld();
    } finally {
      lock.unlock();
    }
  }

  private boolean empty() {
    return lent.isEmpty()
        && idle.isEmpty()
        && retired.isEmpty()
        && leaving.isEmpty()
        && opening == 0;
  }

  /** Takes away an idle lane that holds nothing and has a share of the same budget; or null. */
  Lane giveUpIdle(LaneOpener asking) {
    lock.lock();
    try {
      if (opener.sharesBudget(asking)) {
        for (Lane lane : idle) {
          if (lane.drained() && !lane.failed()) {
            idle.remove(lane);
            news.departed(lane);
            return lane;
          }
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Lanes that are not lent: what an ending JVM may drain. */
  List<Lane> unlent() {
    lock.lock();
    try {
      List<Lane> lanes = new ArrayList<>(idle);
      lanes.addAll(retired);
      return lanes;
    } finally {
      lock.unlock();
    }
  }

  /** How far every lane is, those that ended lately included. */
  List<LaneReport> reports() {
    lock.lock();
    try {
      return news.reports(counted());
    } finally {
      lock.unlock();
    }
  }

  /** Everything that the lanes counted so far, by ordinal of {@link SfMetric}. */
  long[] totals() {
    lock.lock();
    try {
      return news.totals(counted());
    } finally {
      lock.unlock();
    }
  }

  /** What holds now over all lanes, by ordinal of {@link SfMetric}. */
  long[] gauges() {
    lock.lock();
    try {
      return news.gauges(all(), buried);
    } finally {
      lock.unlock();
    }
  }

  /** What was told to whom. */
  PoolNews news() {
    return news;
  }

  /** Tells the driver of an error, at once where that can be. */
  void tell(SfErrorEvent error) {
    news.note(SfEvent.of(error));
    Push.news(this);
  }

  /** The state of the lane that does worst; null without lanes. */
  SenderState worst() {
    lock.lock();
    try {
      return news.worst(all());
    } finally {
      lock.unlock();
    }
  }

  private List<Lane> counted() {
    List<Lane> lanes = all();
    lanes.addAll(leaving);
    return lanes;
  }

  private List<Lane> all() {
    List<Lane> lanes = new ArrayList<>(idle);
    lanes.addAll(lent);
    lanes.addAll(retired);
    return lanes;
  }

  @Override
  public String toString() {
    return "LanePool[" + settings.options().target() + ", at most " + maxLanes + " lanes]";
  }
}
