package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.questdbsf.net.Endpoint;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.Refusal.Hope;

/** Rules that need no server: policies, poison, pacing, silence, sequences, sizes. */
class PureRulesTest {
  private final SplittableRandom random = new SplittableRandom(7);

  private static Policy byDefault(PolicyDefaults defaults, boolean canKeep, Category c, Hope hope) {
    return new ErrorPolicy(SenderConfig.parse("ws::addr=h;"), defaults, canKeep).of(c, hope);
  }

  @ParameterizedTest
  @CsvSource({
    "SCHEMA_MISMATCH, NONE,           DROP,        HALT,        HALT",
    "WRITE_ERROR,     NONE,           DROP,        HALT,        HALT",
    "LOCAL_FAILURE,   NONE,           DROP,        HALT,        HALT",
    "PARSE_ERROR,     NONE,           HALT,        HALT,        HALT",
    "SECURITY_ERROR,  NONE,           HALT,        HALT,        HALT",
    "INTERNAL_ERROR,  NONE,           HALT,        HALT,        HALT",
    "WRITE_ERROR,     UNCLEAR,        RETRY,       RETRY,       RETRY",
    "INTERNAL_ERROR,  UNCLEAR,        RETRY,       RETRY,       RETRY",
    "WRITE_ERROR,     PASSING,        RETRY,       RETRY,       RETRY",
    "INTERNAL_ERROR,  PASSING,        RETRY,       RETRY,       RETRY",
    "INTERNAL_ERROR,  NEW_CONNECTION, RETRY,       RETRY,       RETRY",
    "DICTIONARY_GAP,  NEW_CONNECTION, RETRY,       RETRY,       RETRY",
    "NOT_WRITABLE,    PASSING,        RETRY_OTHER, RETRY_OTHER, RETRY_OTHER",
    "UNKNOWN,         UNCLEAR,        HALT,        HALT,        RETRY",
  })
  void policiesByDefault(
      Category category, Hope hope, Policy withPlace, Policy withoutPlace, Policy sink) {
    assertEquals(withPlace, byDefault(PolicyDefaults.ENGINE, true, category, hope));
    assertEquals(withoutPlace, byDefault(PolicyDefaults.ENGINE, false, category, hope));
    assertEquals(sink, byDefault(PolicyDefaults.SINK, true, category, hope));
  }

  @Test
  void categoriesOfStatuses() {
    assertEquals(Category.SCHEMA_MISMATCH, Category.ofStatus(3));
    assertEquals(Category.PARSE_ERROR, Category.ofStatus(5));
    assertEquals(Category.INTERNAL_ERROR, Category.ofStatus(6));
    assertEquals(Category.SECURITY_ERROR, Category.ofStatus(8));
    assertEquals(Category.WRITE_ERROR, Category.ofStatus(9));
    assertEquals(Category.NOT_WRITABLE, Category.ofStatus(0x0C));
    assertEquals(Category.DICTIONARY_GAP, Category.ofStatus(0x0D));
    for (int status : new int[] {1, 4, 7, 10, 11, 0x7F, 255}) {
      assertEquals(Category.UNKNOWN, Category.ofStatus(status));
    }
  }

  @Test
  void poisonIsStrikesAndTimeOfOneFrame() {
    PoisonDetector poison = new PoisonDetector(4, 5000, 100, 5000, random);
    long now = 0;
    for (int strike = 0; strike < 10; strike++) {
      assertFalse(poison.isPoison(now));
      poison.refused(7, true, now);
      now += MILLISECONDS.toNanos(400);
    }
    poison.refused(7, true, SECONDS.toNanos(5));
    assertTrue(poison.isPoison(SECONDS.toNanos(5)));
    poison.settled(6);
    assertTrue(poison.isPoison(SECONDS.toNanos(5)), "an acknowledgement below it says nothing");
    poison.settled(7);
    assertFalse(poison.isPoison(SECONDS.toNanos(5)));
    poison.refused(8, true, SECONDS.toNanos(100));
    poison.refused(9, true, SECONDS.toNanos(200));
    assertEquals(1, poison.refusals(), "another frame starts afresh");
  }

  @Test
  void refusalsThatPassAreNoStrikes() {
    PoisonDetector poison = new PoisonDetector(1, 100, 100, 5000, random);
    for (int n = 0; n < 10; n++) {
      poison.refused(7, false, SECONDS.toNanos(n));
      assertFalse(poison.isPoison(SECONDS.toNanos(n)));
    }
    assertEquals(10, poison.refusals());
    assertEquals(0, poison.firstRefusal());
    poison.refused(7, true, SECONDS.toNanos(10));
    assertEquals(SECONDS.toNanos(10), poison.firstStrike(), "the window begins with a strike");
    assertFalse(poison.isPoison(SECONDS.toNanos(10)));
    assertTrue(poison.isPoison(SECONDS.toNanos(11)));
  }

  @Test
  void unansweredEndsAreToldSeldomAndSeldomer() {
    UnansweredEnds unanswered = new UnansweredEnds();
    List<Integer> told = new ArrayList<>();
    for (int n = 1; n <= 100; n++) {
      assertEquals(n, unanswered.ended(7, 0));
      if (unanswered.toBeTold()) {
        told.add(n);
      }
    }
    assertEquals(List.of(5, 10, 20, 40, 80), told);
    assertEquals(1, unanswered.ended(8, 0), "another frame starts afresh");
    assertFalse(unanswered.toBeTold());
  }

  @Test
  void pausesOfRefusalsDoubleWithJitter() {
    PoisonDetector poison = new PoisonDetector(4, 5000, 100, 3000, random);
    assertEquals(0, poison.pauseMillis());
    long[] doses = {100, 200, 400, 800, 1600, 3000, 3000, 3000};
    for (long dose : doses) {
      poison.refused(1, true, 0);
      for (int i = 0; i < 50; i++) {
        long pause = poison.pauseMillis();
        assertTrue(pause >= dose && pause < 2 * dose, dose + ": " + pause);
      }
    }
    PoisonDetector eager = new PoisonDetector(1, 0, 0, 0, random);
    eager.refused(1, true, 0);
    assertTrue(eager.pauseMillis() <= 2, "a back-off of 0 harms nothing");
  }

  @Test
  void neverMoreThanTwentyAttemptsInASecond() {
    ReconnectPacer pacer = new ReconnectPacer(20);
    List<Long> attempts = new ArrayList<>();
    long now = -5_000_000_000L;
    for (int i = 0; i < 3000; i++) {
      boolean walk = random.nextBoolean();
      now += random.nextLong(20_000_000);
      long wait = pacer.waitNanos(walk, now);
      now += wait;
      assertEquals(0, pacer.waitNanos(walk, now));
      pacer.attempt(walk, now);
      attempts.add(now);
      if (random.nextInt(40) == 0) {
        pacer.progressed();
      }
    }
    for (int i = 20; i < attempts.size(); i++) {
      assertTrue(attempts.get(i) - attempts.get(i - 20) >= SECONDS.toNanos(1), "attempt " + i);
    }
  }

  @Test
  void afterTenSecondsWithoutProgressOneWalkASecond() {
    ReconnectPacer pacer = new ReconnectPacer(20);
    long now = 0;
    List<Long> walks = new ArrayList<>();
    while (now < SECONDS.toNanos(20)) {
      long wait = pacer.waitNanos(true, now);
      now += wait;
      pacer.attempt(true, now);
      walks.add(now);
      if (now > SECONDS.toNanos(12)) {
        assertEquals(0, pacer.waitNanos(false, now), "other hosts of the round");
      }
    }
    long late = walks.stream().filter(at -> at > SECONDS.toNanos(11)).count();
    assertTrue(late <= 10, "walks in the last nine seconds: " + late);
    pacer.progressed();
    now += SECONDS.toNanos(2);
    pacer.attempt(true, now);
    assertTrue(pacer.waitNanos(true, now) < SECONDS.toNanos(1) / 2, "quick again");
  }

  @Test
  void silence() {
    SilenceWatch watch = new SilenceWatch(30_000, 0, 0);
    assertEquals(SilenceWatch.Verdict.NOTHING, watch.look(SECONDS.toNanos(90), false));
    watch.unacknowledged(true, SECONDS.toNanos(100));
    assertEquals(
        SilenceWatch.Verdict.NOTHING,
        watch.look(MILLISECONDS.toNanos(100_900), false),
        "time before there was anything to wait for does not count");
    assertEquals(SilenceWatch.Verdict.PING, watch.look(SECONDS.toNanos(101), false));
    watch.pinged(SECONDS.toNanos(101));
    assertEquals(SilenceWatch.Verdict.NOTHING, watch.look(MILLISECONDS.toNanos(101_500), false));
    assertEquals(SilenceWatch.Verdict.PING, watch.look(SECONDS.toNanos(102), false));
    assertEquals(SilenceWatch.Verdict.DEAD, watch.look(SECONDS.toNanos(130), false));
    watch.progressed(SECONDS.toNanos(129));
    assertEquals(SilenceWatch.Verdict.PING, watch.look(SECONDS.toNanos(130), false));
  }

  @Test
  void nextLookIsNeverTooLate() {
    for (int i = 0; i < 20_000; i++) {
      long now = random.nextLong(SECONDS.toNanos(100));
      SilenceWatch watch = new SilenceWatch(1 + random.nextLong(40_000), random.nextLong(500), now);
      watch.unacknowledged(random.nextBoolean(), now - random.nextLong(SECONDS.toNanos(20)));
      boolean pending = random.nextBoolean();
      if (watch.look(now, pending) == SilenceWatch.Verdict.NOTHING) {
        long next = watch.nextLook(now, pending);
        long before = now + random.nextLong(next);
        assertEquals(SilenceWatch.Verdict.NOTHING, watch.look(before, pending), "early");
        boolean idle = next >= SECONDS.toNanos(3600);
        assertEquals(idle, watch.look(now + next, pending) == SilenceWatch.Verdict.NOTHING, "late");
      }
    }
  }

  @Test
  void sequencesAndFrames() {
    InFlight flight = new InFlight();
    flight.begin(100);
    assertTrue(flight.fresh());
    flight.sentDictionary();
    flight.sentDictionary();
    assertTrue(flight.fresh());
    assertFalse(flight.sent(100));
    flight.sentFrame(1000);
    flight.sentFrame(10);
    assertEquals(102, flight.nextFsn());
    assertEquals(100, flight.fsnOf(2));
    assertEquals(101, flight.fsnOf(3));
    assertEquals(99, flight.fsnOf(1), "a dictionary message is below the first frame");
    assertTrue(flight.isDictionary(1));
    assertFalse(flight.isDictionary(2));
    assertEquals(0, flight.settle(99));
    assertEquals(1000, flight.settle(100));
    assertEquals(0, flight.settle(100), "counted once");
    assertEquals(10, flight.settle(999), "only what was sent");
    flight.skipTo(110);
    flight.sentFrame(1);
    assertEquals(110, flight.fsnOf(4));
    assertTrue(flight.fsnOf(3) < 110);
  }

  @Test
  void sizesOfFramesAreAddedUpWhicheverWayTheyWereSent() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    InFlight flight = new InFlight();
    TreeMap<Long, Integer> sent = new TreeMap<>();
    long settled = -1;
    flight.begin(0);
    for (int step = 0; step < 20_000; step++) {
      int what = random.nextInt(1000);
      if (what == 0) {
        flight.begin(settled + 1);
        sent.clear();
      } else if (what < 520) {
        int bytes = random.nextInt(1, 5000);
        sent.put(flight.nextFsn(), bytes);
        flight.sentFrame(bytes);
      } else if (!sent.isEmpty() && what < 600) {
        settled = sent.firstKey() + random.nextInt(sent.size());
        var done = sent.headMap(settled, true);
        long bytes = done.values().stream().mapToLong(Integer::longValue).sum();
        assertEquals(bytes, flight.settle(settled), "seed " + seed);
        done.clear();
      }
    }
  }

  @Test
  void looksAtFrames() throws Exception {
    SymbolDictionary dictionary = new SymbolDictionary();
    TableBlock block = new TableBlock("tä", dictionary, 127);
    for (int n = 0; n < 3; n++) {
      Senders.addRow(block, n);
    }
    TableBlock other = new TableBlock("u", dictionary, 127);
    other.column("x", QwpType.LONG).putLong(1);
    other.endRow();
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(block, 0, 3, dictionary, 1, 3);
    FrameLook look = FrameLook.at(encoder.array(), 0, encoder.length());
    assertEquals(1, look.deltaStart());
    assertEquals(3, look.deltaEnd());
    assertEquals("tä", look.table());
    assertEquals(3, look.rows());
    for (int length = 0; length < encoder.length(); length++) {
      FrameLook.at(encoder.array(), 0, length); // whatever it says, it ends
    }
    encoder.encode(List.of(block, other), dictionary, 0, 3);
    assertNull(FrameLook.at(encoder.array(), 0, encoder.length()).table(), "two tables");
    byte[] bytes = new byte[200];
    for (int i = 0; i < 20_000; i++) {
      random.nextBytes(bytes);
      System.arraycopy(encoder.array(), 0, bytes, 0, random.nextInt(20));
      FrameLook.at(bytes, 0, random.nextInt(bytes.length));
    }
  }

  @Test
  void sizesOfFrames() {
    List<Integer> seen = new ArrayList<>();
    final Endpoint a = new Endpoint("a", 1);
    final Endpoint b = new Endpoint("b", 1);
    FrameCap cap = new FrameCap(1 << 20, 2, 0, seen::add);
    assertEquals(120 * 1024, cap.limit());
    cap.seen(a, 0);
    assertEquals(120 * 1024, cap.limit());
    cap.seen(a, 2_000_000);
    assertEquals(1 << 20, cap.limit(), "a segment is smaller");
    cap.seen(b, 100_000);
    assertEquals(90_000, cap.limit(), "either host may get the next frame");
    cap.seen(a, 500_000);
    assertEquals(90_000, cap.limit());
    cap.seen(b, 400_000);
    assertEquals(360_000, cap.limit(), "a host counts by what it said last");
    cap.seen(b, 1);
    assertEquals(360_000, cap.limit(), "no size for frames");
    assertEquals(List.of(2_000_000, 100_000, 400_000), seen);
  }

  @Test
  void aFrameFitsNoHostOnlyWhereAllHaveSaidSo() {
    final Endpoint a = new Endpoint("a", 1);
    final Endpoint b = new Endpoint("b", 1);
    FrameCap cap = new FrameCap(1 << 20, 2, 10_000, c -> {});
    assertFalse(cap.fitsNoHost(20_000), "what is remembered is of the past");
    cap.seen(a, 8_192);
    assertFalse(cap.fitsNoHost(20_000), "the other may take more");
    cap.seen(b, 2_000_000);
    assertFalse(cap.fitsNoHost(20_000));
    assertTrue(cap.fitsNoHost((1 << 20) + 1), "no segment does");
    cap.seen(b, 20_000);
    assertFalse(cap.fitsNoHost(18_000));
    assertTrue(cap.fitsNoHost(18_001));
  }

  @Test
  void aRememberedSizeHoldsUntilAllHostsHaveSaidTheirs() {
    FrameCap cap = new FrameCap(1 << 20, 2, 10_000, c -> {});
    assertEquals(9_000, cap.limit());
    cap.seen(new Endpoint("a", 1), 100_000);
    assertEquals(9_000, cap.limit());
    cap.seen(new Endpoint("b", 1), 50_000);
    assertEquals(45_000, cap.limit());
    assertEquals(FrameCap.UNTIL_SEEN, new FrameCap(1 << 20, 1, 1, c -> {}).limit());
  }

  @Test
  void hopelessOnlyWhenAllHostsHaveSaidSoForTheWindow() {
    CapWatch caps = new CapWatch(2, 100);
    long window = MILLISECONDS.toNanos(100);
    caps.tooSmall(0, 0);
    assertFalse(caps.hopeless(10 * window));
    caps.tooSmall(1, 10 * window);
    assertFalse(caps.hopeless(10 * window + 1));
    assertTrue(caps.hopeless(11 * window));
    caps.forget(0);
    assertFalse(caps.hopeless(20 * window));
    caps.tooSmall(0, 20 * window);
    caps.forgetAll();
    assertFalse(caps.hopeless(90 * window));
  }

  @Test
  void latenciesAndAges() {
    PublishTimes times = new PublishTimes();
    SenderCounters counters = new SenderCounters();
    long start = System.nanoTime();
    for (long fsn = 0; fsn < 10_000; fsn++) {
      times.published(fsn, -1, start + MILLISECONDS.toNanos(fsn));
    }
    assertEquals(start + MILLISECONDS.toNanos(4000), times.of(4000));
    times.acknowledged(0, 4000, start + MILLISECONDS.toNanos(5000), counters);
    assertEquals(5000, counters.ackLatencyMaxMillis(), 50);
    assertEquals(
        start + MILLISECONDS.toNanos(4000), times.of(9000), "no later than it can have been");
    times.published(10_000, 9_999, start);
    assertEquals(start, times.of(10_000));
  }
}
