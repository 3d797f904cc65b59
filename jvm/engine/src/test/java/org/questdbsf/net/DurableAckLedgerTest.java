package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DurableAckLedgerTest {
  private final DurableAckLedger ledger = new DurableAckLedger();

  private static TableTxn t(String table, long txn) {
    return new TableTxn(table, txn);
  }

  @Test
  void releasesInOrderWhenAllTablesAreDurable() {
    assertEquals(-1, ledger.onOk(3, List.of(t("a", 1), t("b", 1))));
    assertEquals(-1, ledger.onOk(5, List.of(t("a", 2))));
    assertEquals(-1, ledger.onDurableAck(List.of(t("a", 2))), "b is not durable yet");
    assertEquals(2, ledger.waiting());
    assertEquals(5, ledger.onDurableAck(List.of(t("b", 1))));
    assertEquals(0, ledger.waiting());
  }

  @Test
  void anOkWithoutTablesWaitsOnlyForThoseBeforeIt() {
    assertEquals(0, ledger.onOk(0, List.of()));
    assertEquals(0, ledger.onOk(1, List.of(t("a", 7))));
    assertEquals(0, ledger.onOk(2, List.of()));
    assertEquals(2, ledger.onDurableAck(List.of(t("a", 9))));
  }

  @Test
  void anOkThatIsRepeatedForEverTakesNoMore() {
    for (int i = 0; i < 1000; i++) {
      ledger.onOk(4, List.of(t("a", 1)));
    }
    assertEquals(1, ledger.waiting());
    assertEquals(4, ledger.onDurableAck(List.of(t("a", 1))));
  }

  @Test
  void watermarksThatCameFirstCount() {
    ledger.onDurableAck(List.of(t("a", 7)));
    assertEquals(4, ledger.onOk(4, List.of(t("a", 7))));
    assertEquals(4, ledger.onOk(5, List.of(t("a", 9))));
    assertEquals(5, ledger.onDurableAck(List.of(t("a", 12))));
    assertEquals(6, ledger.onOk(6, List.of(t("a", 10))), "of another writer's commit");
  }

  /** Its transactions begin again: the watermark is of a dropped table. */
  @Test
  void aTableThatCountsAnewIsAnotherTable() {
    ledger.onOk(0, List.of(t("a", 7), t("b", 7)));
    assertEquals(0, ledger.onDurableAck(List.of(t("a", 7), t("b", 7))));
    assertEquals(0, ledger.onOk(1, List.of(t("A", 2), t("b", 8))));
    assertEquals(0, ledger.onDurableAck(List.of(t("b", 8))));
    assertEquals(1, ledger.onDurableAck(List.of(t("a", 2))));
  }

  @Test
  void watermarksNeverGoBack() {
    ledger.onDurableAck(List.of(t("a", 7)));
    ledger.onDurableAck(List.of(t("a", 3)));
    assertEquals(1, ledger.onOk(1, List.of(t("a", 5))));
  }

  @Test
  void aRepeatedOkAddsItsTablesToTheWaitingOne() {
    ledger.onOk(4, List.of(t("a", 1)));
    ledger.onOk(4, List.of(t("b", 1)));
    assertEquals(-1, ledger.onDurableAck(List.of(t("a", 1))));
    assertEquals(4, ledger.onDurableAck(List.of(t("b", 1))));
    assertEquals(4, ledger.onOk(2, List.of(t("c", 1))), "long released");
  }

  @Test
  void aNewConnectionStartsAfresh() {
    ledger.onOk(4, List.of(t("a", 1)));
    ledger.onDurableAck(List.of(t("a", 1)));
    ledger.reset();
    assertEquals(-1, ledger.covered());
    assertEquals(-1, ledger.onOk(0, List.of(t("a", 1))), "the old watermark is gone");
  }

  @Test
  void agreesWithTheModel() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int run = 0; run < 500; run++) {
      DurableAckLedger l = new DurableAckLedger();
      List<Long> sequences = new ArrayList<>();
      List<List<TableTxn>> tables = new ArrayList<>();
      Map<String, Long> watermarks = new HashMap<>();
      Map<String, Long> before = new HashMap<>();
      long sequence = -1;
      int released = 0;
      for (int step = 0; step < 100; step++) {
        List<TableTxn> some = new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          some.add(t("t" + random.nextInt(4), random.nextInt(step + 1)));
        }
        long covered;
        if (random.nextBoolean()) {
          sequence += 1 + random.nextInt(3);
          sequences.add(sequence);
          tables.add(some);
          for (TableTxn x : some) {
            Long last = before.put(x.table(), x.seqTxn());
            if (last != null && x.seqTxn() < last) {
              watermarks.remove(x.table());
            }
          }
          covered = l.onOk(sequence, some);
        } else {
          some.forEach(x -> watermarks.merge(x.table(), x.seqTxn(), Math::max));
          covered = l.onDurableAck(some);
        }
        for (int i = released; i < tables.size(); i++) {
          if (!tables.get(i).stream()
              .allMatch(x -> watermarks.getOrDefault(x.table(), -1L) >= x.seqTxn())) {
            break;
          }
          released = i + 1;
        }
        long expected = released == 0 ? -1 : sequences.get(released - 1);
        assertEquals(expected, covered, "seed " + seed);
      }
    }
  }
}
