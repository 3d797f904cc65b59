package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpType;

class SlotTargetTest {
  private static SlotTarget target(String keys) {
    return SlotTarget.of(SenderConfig.parse("ws::" + keys), List.of(), "test");
  }

  private static boolean fits(String a, String b) {
    boolean there = target(a).difference(target(b)).isEmpty();
    assertEquals(there, target(b).difference(target(a)).isEmpty(), "symmetric");
    return there;
  }

  @Test
  void equalIdsFitWhateverTheHosts() {
    assertTrue(fits("addr=a;target_id=x", "addr=b;target_id=x;token=t"));
    assertFalse(fits("addr=a;target_id=x", "addr=a;target_id=y"));
  }

  @Test
  void withoutAnIdUserAndOneHostMustBeTheSame() {
    assertTrue(fits("addr=a:1,b:2", "addr=B:2,c:3"));
    assertFalse(fits("addr=a:1", "addr=a:2"));
    assertTrue(fits("addr=a;target_id=x", "addr=a"));
    assertFalse(fits("addr=a;username=u;password=p", "addr=a;username=v;password=p"));
    assertFalse(fits("addr=a;username=token;password=p", "addr=a;token=p"));
    assertTrue(fits("addr=a;token=old", "addr=a;token=rotated"));
  }

  @Test
  void theDifferenceIsNamed() {
    String text = target("addr=a:1").difference(target("addr=b:1")).orElseThrow();
    assertTrue(text.contains("a:1") && text.contains("b:1"), text);
  }

  @Test
  void noSecretIsWritten() {
    for (String keys : List.of("addr=a;token=hunter2", "addr=a;username=u;password=hunter2")) {
      assertFalse(target(keys).toMap().toString().contains("hunter2"));
      assertFalse(target(keys).toString().contains("hunter2"));
    }
  }

  @Test
  void whatIsWrittenIsReadBack() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      List<TableSpec> tables = new ArrayList<>();
      int count = random.nextInt(3);
      for (int i = 0; i < count; i++) {
        TableSpec.Builder spec = TableSpec.builder(name(random)).designated("time", micros(random));
        List<String> keys = new ArrayList<>();
        int columns = random.nextInt(6);
        for (int c = 0; c < columns; c++) {
          String name = name(random) + c;
          QwpType type = QwpType.values()[random.nextInt(QwpType.values().length)];
          if (type != QwpType.LONG_ARRAY && random.nextBoolean()) {
            spec.column(name, type);
          } else {
            spec.column(name, type, "DECIMAL(18,4)");
          }
          if (random.nextBoolean()) {
            keys.add(name);
          }
        }
        spec.dedupKeys(keys).requireDedup(random.nextBoolean());
        spec.updateKeys(random.nextBoolean() ? List.of() : keys);
        spec.onMissing(OnMissingTable.values()[random.nextInt(3)]);
        tables.add(spec.build());
      }
      SlotTarget target =
          SlotTarget.of(
                  SenderConfig.parse("ws::addr=a:1,[::1]:2;target_id=x=1,y"), tables, "app=1,\"x\"")
              .withBatchCap(random.nextInt(1 << 20));
      assertEquals(target, SlotTarget.fromMap("s", target.toMap()), "seed " + seed);
    }
  }

  private static QwpType micros(Random random) {
    return random.nextBoolean() ? QwpType.TIMESTAMP : QwpType.TIMESTAMP_NANOS;
  }

  private static String name(Random random) {
    String letters = "ab ,:;=%+é€.\n";
    StringBuilder name = new StringBuilder("n");
    for (int i = random.nextInt(6); i > 0; i--) {
      name.append(letters.charAt(random.nextInt(letters.length() - 1)));
    }
    return name.toString();
  }

  @Test
  void whatIsMissingOrStrangeIsRefused() {
    TableSpec spec = TableSpec.builder("t").column("a", QwpType.LONG).build();
    SlotTarget target = SlotTarget.of(SenderConfig.parse("ws::addr=a"), List.of(spec), "test");
    Map<String, String> whole = target.toMap();
    for (String key : whole.keySet()) {
      boolean optional = List.of("application", "written_on").contains(key);
      Map<String, String> cut = new HashMap<>(whole);
      cut.remove(key);
      if (optional) {
        SlotTarget.fromMap("slot-1", cut);
        continue;
      }
      SfException e = assertThrows(SfException.class, () -> SlotTarget.fromMap("slot-1", cut), key);
      assertTrue(e.getMessage().contains("slot-1"), e.getMessage());
    }
    Map<String, String> newer = new HashMap<>(whole);
    newer.put("format", "2");
    SfException e = assertThrows(SfException.class, () -> SlotTarget.fromMap("slot-1", newer));
    assertEquals(ErrorCode.SLOT_NEWER_FORMAT, e.code());
    Map<String, String> strange = new HashMap<>(whole);
    strange.put("table.0.columns", "a:NOTYPE:LONG");
    assertThrows(SfException.class, () -> SlotTarget.fromMap("slot-1", strange));
  }
}
