package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.TableTxn;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.MessageHeader;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.OkAudit.Verdict;

/** What an OK proves, message by message; and against a model of a server that loses rows. */
class OkAuditTest {
  private static final long MILLI = 1_000_000;

  private final OkAudit audit = new OkAudit();
  private long now = 5_000 * MILLI;

  @BeforeEach
  void begin() {
    audit.begin(now);
  }

  private static TableBlock block(String table, int rows) {
    TableBlock block = new TableBlock(table, new SymbolDictionary(), 127);
    for (int row = 0; row < rows; row++) {
      block.column("n", QwpType.LONG).putLong(row);
      block.endRow();
    }
    return block;
  }

  private static byte[] frame(boolean deferred, TableBlock... blocks) {
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(Arrays.asList(blocks), new SymbolDictionary(), 0, 0);
    byte[] frame = Arrays.copyOf(encoder.array(), encoder.length());
    if (deferred) {
      frame[5] |= MessageHeader.FLAG_DEFER_COMMIT;
    }
    return frame;
  }

  private void send(boolean deferred, TableBlock... blocks) {
    byte[] frame = frame(deferred, blocks);
    send(frame, frame.length);
  }

  private void send(byte[] frame, int length) {
    audit.next(frame, 0, length);
    audit.sent(now);
  }

  private void send(String... tables) {
    send(false, Arrays.stream(tables).map(name -> block(name, 2)).toArray(TableBlock[]::new));
  }

  private Verdict ok(long sequence, Object... namesAndTransactions) {
    List<TableTxn> named = new ArrayList<>();
    for (int i = 0; i < namesAndTransactions.length; i += 2) {
      named.add(
          new TableTxn((String) namesAndTransactions[i], (Integer) namesAndTransactions[i + 1]));
    }
    return audit.judge(sequence, named, now);
  }

  @Test
  void aCommitForEachFrame() {
    send("t");
    assertEquals(Verdict.PROVEN, ok(0, "t", 5000));
    send("t");
    send("t");
    assertEquals(Verdict.UNPROVEN, ok(2, "t", 5001));
    assertTrue(audit.why().contains("5001"), audit.why());
    assertTrue(audit.why().contains("2 commits"), audit.why());
    assertEquals("t", audit.whichTable());
  }

  @Test
  void moreTransactionsThanFramesAreThoseOfOthers() {
    send("t");
    assertEquals(Verdict.PROVEN, ok(0, "t", 5000));
    send("t");
    assertEquals(Verdict.PROVEN, ok(1, "t", 5017));
  }

  @Test
  void everyTableOfAFrameMustBeNamed() {
    send("a", "b");
    assertEquals(Verdict.UNPROVEN, ok(0, "a", 5000));
    assertEquals("b", audit.whichTable());
    assertTrue(audit.why().contains("no transaction"), audit.why());
  }

  @Test
  void oneOkForSeveralTables() {
    send("a");
    send("b");
    assertEquals(Verdict.PROVEN, ok(1, "b", 5000, "a", 5000));
    send("a");
    send("b");
    send("a");
    assertEquals(Verdict.PROVEN, ok(4, "b", 5001, "a", 5002));
    send("a");
    send("b");
    assertEquals(Verdict.UNPROVEN, ok(6, "a", 5003));
  }

  @Test
  void namesAreTheTablesOwn() {
    send("Trips");
    assertEquals(Verdict.PROVEN, ok(0, "trips", 5000));
    send("TRIPS");
    assertEquals(Verdict.UNPROVEN, ok(1, "trips", 5000));
  }

  @Test
  void framesWithoutRowsAndDictionariesCommitNothing() {
    audit.sentDictionary(now);
    send(false);
    send(false, block("t", 0));
    assertEquals(Verdict.PROVEN, ok(2));
  }

  @Test
  void aGroupIsOneCommit() {
    send(true, block("a", 1));
    send(true, block("b", 1));
    send(true, block("a", 1));
    send(false);
    assertEquals(Verdict.PROVEN, ok(3, "a", 5000, "b", 4000));
    send(true, block("a", 1));
    send(true, block("b", 1));
    send("a");
    assertEquals(Verdict.UNPROVEN, ok(6, "a", 5001));
    assertEquals("b", audit.whichTable());
  }

  /** Servers commit a million rows at once, and name nothing. */
  @Test
  void aMillionRowsSayNothing() {
    send(false, block("t", 999_999));
    assertEquals(Verdict.UNPROVEN, ok(0));
    audit.begin(now);
    send(true, block("t", 999_999));
    send(false, block("t", 1));
    assertEquals(Verdict.PROVEN, ok(1));
  }

  @Test
  void aRepeatedOkSaysNothingNew() {
    send("t");
    assertEquals(Verdict.PROVEN, ok(0, "t", 5000));
    assertEquals(Verdict.PROVEN, ok(0, "t", 5000));
    assertEquals(Verdict.PROVEN, ok(0));
  }

  @Test
  void numbersThatANewTableMayHaveReachedStayOpenUntilTheTableIsKnown() {
    send("t");
    now += 100 * MILLI;
    assertEquals(Verdict.OPEN, ok(0, "t", 900));
    audit.same(now);
    send("t");
    now += 20 * MILLI;
    assertEquals(Verdict.PROVEN, ok(1, "t", 901));
    now += 60_000 * MILLI;
    send("t");
    now += MILLI;
    assertEquals(Verdict.OPEN, ok(2, "t", 902), "nothing was known for a minute");
  }

  /** Of two first commits, the number may be that of the one that was not lost. */
  @Test
  void severalFirstCommitsCannotBeCounted() {
    send("t");
    send("t");
    assertEquals(Verdict.OPEN, ok(1, "t", 1_000_000));
    send("t");
    send("t");
    assertEquals(Verdict.PROVEN, ok(3, "t", 1_000_002));
  }

  /** So a second commit waits for the OK of the first one, where nothing else can tell. */
  @Test
  void aSecondFirstCommitShouldWait() {
    send("a");
    assertTrue(shouldWait("A"));
    assertFalse(shouldWait("b"), "another table");
    assertFalse(shouldWait(false, block("a", 0)), "no rows");
    assertTrue(shouldWait("b", "c"), "what more than one table waits for is not looked at");
    assertFalse(audit.isAnswered(0));
    ok(0, "a", 7);
    assertTrue(audit.isAnswered(0));
    assertFalse(shouldWait("a"));
    send(true, block("d", 1));
    assertFalse(shouldWait("d"), "the group goes on");
  }

  private boolean shouldWait(String... tables) {
    return shouldWait(
        false, Arrays.stream(tables).map(name -> block(name, 2)).toArray(TableBlock[]::new));
  }

  private boolean shouldWait(boolean deferred, TableBlock... blocks) {
    byte[] frame = frame(deferred, blocks);
    audit.next(frame, 0, frame.length);
    return audit.shouldWait();
  }

  /** What a frame proved was so when it was sent, not when the OK was read. */
  @Test
  void aProofIsAsOldAsItsFrame() {
    send("t");
    now += 5_000 * MILLI;
    assertEquals(Verdict.PROVEN, ok(0, "t", 60_000));
    send("t");
    now += 5_000 * MILLI;
    assertEquals(Verdict.OPEN, ok(1, "t", 60_001));
  }

  @Test
  void aNewConnectionKnowsNothing() {
    send("t");
    assertEquals(Verdict.PROVEN, ok(0, "t", 5000));
    audit.begin(now);
    send("t");
    assertEquals(Verdict.PROVEN, ok(0, "t", 4000), "another server, another number");
  }

  /** A message that does not read well is for the server to refuse. */
  @Test
  void garbageIsNotAudited() {
    send(new byte[] {1, 2, 3}, 3);
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(List.of(block("a", 1), block("b", 1)), new SymbolDictionary(), 0, 0);
    send(encoder.array(), encoder.length() - 3);
    assertEquals(Verdict.PROVEN, ok(1));
  }

  /**
   * A server with tables that are dropped, created and written to by others: it forgets what comes
   * for a dropped table until the connection's next frame. The audit must never call an OK proven
   * of which a row is nowhere, and never an honest one unproven.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void neverProvenWhatIsLost(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    String[] names = {"a", "b", "c"};
    Map<String, Integer> incarnations = new HashMap<>();
    Map<String, Integer> transactions = new HashMap<>();
    for (String name : names) {
      transactions.put(name, random.nextInt(1, 20_000));
      incarnations.put(name, 0);
    }
    int proven = 0;
    int unproven = 0;
    int open = 0;
    for (int connection = 0; connection < 300; connection++) {
      audit.begin(now);
      Map<String, Integer> writers = new HashMap<>(); // incarnation that the connection writes to
      boolean alive = true;
      for (long sequence = -1; alive && random.nextInt(30) > 0; ) {
        Map<String, Integer> named = new TreeMap<>();
        boolean lost = false;
        boolean replaced = false;
        int millis = random.nextInt(1, 12);
        for (int frame = random.nextInt(1, 9); frame > 0; frame--) {
          String name = names[random.nextInt(names.length)];
          send(name);
          sequence++;
          if (random.nextInt(40) == 0) {
            incarnations.merge(name, 1, Integer::sum);
            transactions.put(name, random.nextInt(3) == 0 ? random.nextInt(8 * millis) : 0);
            replaced = true;
          }
          Integer writer = writers.putIfAbsent(name, incarnations.get(name));
          if (writer != null && !writer.equals(incarnations.get(name))) {
            lost = true;
            writers.remove(name);
          } else {
            named.put(name, transactions.merge(name, 1, Integer::sum));
          }
        }
        now += millis * MILLI;
        List<TableTxn> tables = new ArrayList<>();
        named.forEach((name, transaction) -> tables.add(new TableTxn(name, transaction)));
        Verdict verdict = audit.judge(sequence, tables, now);
        if (lost) {
          assertFalse(verdict == Verdict.PROVEN, "seed " + seed + ": lost and proven");
        } else if (!replaced) {
          assertFalse(verdict == Verdict.UNPROVEN, "seed " + seed + ": " + audit.why());
        }
        switch (verdict) {
          case PROVEN -> proven++;
          case OPEN -> {
            open++;
            alive = !lost && !replaced; // a look tells
            audit.same(now);
          }
          case UNPROVEN -> {
            unproven++;
            alive = false;
          }
        }
      }
    }
    assertTrue(proven > 0 && unproven > 0 && open > 0, proven + " " + unproven + " " + open);
  }
}
