package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.questdbsf.sender.DeadLetterSink;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.slot.SegmentBudget;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lane pools of this executor JVM, by settings, and what they have in common. */
final class LanePools {
  private static final Logger LOG = LoggerFactory.getLogger(LanePools.class);
  private static final long TIDY_MILLIS = 1000;
  private static final long PUSH_MILLIS = 3000;
  private static final long DRAIN_STEP_MILLIS = 20;

  private static final Map<String, LanePool> POOLS = new ConcurrentHashMap<>();

  /** Shared by all pools that go to the same place with the same cap. */
  private static final Map<String, SegmentBudget> BUDGETS = new ConcurrentHashMap<>();

  /** What pools that were closed had counted, by ordinal of {@link SfMetric}. */
  private static final long[] PAST = new long[SfMetric.values().length];

  private static final Map<String, Adopter> ADOPTERS = new ConcurrentHashMap<>();

  private static volatile long drainMillis;

  private static final AtomicBoolean KEPT_UP = new AtomicBoolean();

  /** With the first pool, not with this class: an executor without one may be ending already. */
  private static void keepUp() {
    if (KEPT_UP.compareAndSet(false, true)) {
      Housekeeper.every(TIDY_MILLIS, LanePools::tidy);
      Housekeeper.every(PUSH_MILLIS, LanePools::pushAll);
      Runtime.getRuntime()
          .addShutdownHook(new Thread(LanePools::drainAtExit, "questdb-sf-drain-at-exit"));
    }
  }

  private LanePools() {}

  /** The pool for these settings, made at first use. */
  static LanePool of(LaneSettings settings) {
    return POOLS.computeIfAbsent(settings.identity(), key -> create(settings));
  }

  /** The pool for these settings where this JVM has one, or null. */
  static LanePool present(LaneSettings settings) {
    return POOLS.get(settings.identity());
  }

  /** Borrows a lane of the pool for these settings; see {@link LanePool#borrow}. */
  static Loan borrow(LaneSettings settings) throws InterruptedException {
    while (true) {
      LanePool pool = of(settings);
      Lane lane = pool.borrow();
      if (lane != null) {
        pool.news().usedBy(settings.queryId());
        return new Loan(pool, lane);
      }
      POOLS.remove(settings.identity(), pool);
    }
  }

  /** A lane and where it goes back to. */
  record Loan(LanePool pool, Lane lane) {}

  private static LanePool create(LaneSettings settings) {
    keepUp();
    SfOptions options = settings.options();
    int lanes = lanes(options);
    SenderConfig config = settings.senderConfig(lanes);
    drainMillis = options.number(SfOption.DRAIN_ON_STOP_MILLIS).orElseThrow();
    SegmentBudget budget =
        BUDGETS.computeIfAbsent(
            config.sfDir() + "|" + config.endpoints() + "|" + config.totalBytes(),
            key -> new SegmentBudget(config.totalBytes()));
    DeadLetterSink deadLetters =
        options
            .text(SfOption.DEAD_LETTER_DIR)
            .map(dir -> new FrameDeadLetters(dir, settings.queryId()))
            .orElse(null);
    Adopter adopter = options.isSet(SfOption.SF_DIR) ? adopter(settings, lanes, deadLetters) : null;
    LOG.info("At most {} lanes to {}: {}", lanes, options.target(), config);
    return new LanePool(
        settings,
        lanes,
        adopter,
        (errors, suspended) ->
            new LaneOpener(settings, config, budget, errors, suspended, deadLetters));
  }

  /** Started once for each directory, family and target, and never stopped. */
  private static Adopter adopter(LaneSettings settings, int lanes, DeadLetterSink deadLetters) {
    if (settings.options().is(SfOption.DRAIN_ORPHANS, "off")) {
      return null;
    }
    SenderConfig config = SenderSettings.ofAdopter(settings.options(), settings.senderId(), lanes);
    return ADOPTERS.computeIfAbsent(
        config.asMap().toString(), key -> new Adopter(config, deadLetters));
  }

  /** Ends one idle lane of any pool, to make room in the budget; whether there was one. */
  static boolean endIdleLane(LaneOpener asking) throws InterruptedException {
    for (LanePool pool : POOLS.values()) {
      Lane lane = pool.giveUpIdle(asking);
      if (lane != null) {
        CountDownLatch ended = new CountDownLatch(1);
        Housekeeper.apart(
            () -> {
              try {
                lane.end();
              } finally {
                ended.countDown();
              }
            });
        ended.await();
        return true;
      }
    }
    return false;
  }

  /** {@code max_lanes}, or the task slots of this executor. */
  static int lanes(SfOptions options) {
    return options
        .number(SfOption.MAX_LANES)
        .map(Long::intValue)
        .orElseGet(
            () -> {
              int processors = Runtime.getRuntime().availableProcessors();
              return SparkEnv.get() == null
                  ? processors
                  : TaskSlots.of(SparkEnv.get().conf(), processors);
            });
  }

  private static void tidy() {
    POOLS.forEach(
        (key, pool) -> {
          pool.tidy();
          if (pool.closeIfUnused() && POOLS.remove(key, pool)) {
            synchronized (PAST) {
              addTo(PAST, pool);
            }
          }
        });
  }

  /** Tells the driver how all pools are, where there is a way. */
  static void pushAll() {
    for (LanePool pool : POOLS.values()) {
      if (!pool.quiet()) {
        Push.news(pool);
      }
    }
  }

  /** One value over all pools of this JVM. */
  static long value(SfMetric metric) {
    long[] totals;
    synchronized (PAST) {
      totals = PAST.clone();
    }
    if (metric.kind() == SfMetric.Kind.COUNTER) {
      POOLS.values().forEach(pool -> addTo(totals, pool));
      return totals[metric.ordinal()];
    }
    long value = 0;
    for (LanePool pool : POOLS.values()) {
      long one = pool.gauges()[metric.ordinal()];
      value = metric.isHighest() ? Math.max(value, one) : value + one;
    }
    return value;
  }

  private static void addTo(long[] totals, LanePool pool) {
    long[] counted = pool.totals();
    for (int i = 0; i < totals.length; i++) {
      totals[i] += counted[i];
    }
    totals[SfMetric.ROWS_WRITTEN.ordinal()] += pool.news().rows();
    totals[SfMetric.BYTES_WRITTEN.ordinal()] += pool.news().bytes();
  }

  /** One deadline for all lanes; what is not sent by then stays in its slot. */
  private static void drainAtExit() {
    List<Lane> lanes = new ArrayList<>();
    POOLS.values().forEach(pool -> lanes.addAll(pool.unlent()));
    long deadline = System.nanoTime() + drainMillis * 1_000_000;
    try {
      while (!lanes.stream().allMatch(Lane::drained) && System.nanoTime() < deadline) {
        Thread.sleep(DRAIN_STEP_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
