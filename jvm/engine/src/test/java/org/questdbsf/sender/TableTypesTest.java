package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/** Which column takes which wire type, against what a server was seen to do with each pair. */
class TableTypesTest {
  private static final Set<QwpType> TEXTS = EnumSet.of(QwpType.VARCHAR, QwpType.SYMBOL);
  private static final Set<QwpType> DECIMALS =
      EnumSet.of(QwpType.DECIMAL64, QwpType.DECIMAL128, QwpType.DECIMAL256);
  private static final List<String> TEXT_COLUMNS = List.of("STRING", "VARCHAR", "SYMBOL");

  /** Null is sent as zero in these. */
  private static final Set<QwpType> WITHOUT_NULL =
      EnumSet.of(QwpType.BOOLEAN, QwpType.BYTE, QwpType.SHORT, QwpType.CHAR);

  /** Values that are refused before they are sent. */
  private static final Set<String> NEVER_SENT = Set.of("MIN", "inf");

  /** What a server showed of each value of each wire type, by column. */
  private final Map<QwpType, Map<String, Map<String, String>>> shown = new LinkedHashMap<>();

  private final Set<String> columns = new LinkedHashSet<>();

  TableTypesTest() throws IOException {
    try (InputStream in = TableTypesTest.class.getResourceAsStream("coercions.tsv")) {
      String all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : all.split("\n")) {
        if (!line.startsWith("#")) {
          String[] cell = line.split("\t");
          columns.add(cell[2]);
          if (!NEVER_SENT.contains(cell[1])) {
            shown
                .computeIfAbsent(QwpType.valueOf(cell[0]), t -> new LinkedHashMap<>())
                .computeIfAbsent(cell[1], v -> new LinkedHashMap<>())
                .put(cell[2], cell[3]);
          }
        }
      }
    }
  }

  @Test
  void theRecordIsComplete() {
    assertEquals(EnumSet.allOf(QwpType.class), EnumSet.copyOf(shown.keySet()));
    assertEquals(29, columns.size());
  }

  /** No value that fits is changed or refused. */
  @Test
  void whatFitsReadsBackTheSame() {
    List<String> wrong = new ArrayList<>();
    forEachPair(
        (type, value, column, fits) -> {
          if (fits && !isSame(type, value, column)) {
            wrong.add(type + " " + value + " in " + column + ": " + shownIn(type, value, column));
          }
        });
    // A time after 2262 is refused aloud.
    assertEquals(List.of("TIMESTAMP 2^62 in TIMESTAMP_NS: null"), wrong);
  }

  /** The other way: nothing is left out that would do, but for what is meant to be left out. */
  @Test
  void whatReadsBackTheSameFits() {
    Set<String> missing = new TreeSet<>();
    for (QwpType type : shown.keySet()) {
      for (String column : columns) {
        boolean text = TEXT_COLUMNS.contains(column) && !TEXTS.contains(type);
        boolean all =
            shown.get(type).keySet().stream().allMatch(value -> isSame(type, value, column));
        if (all && !text && !DECIMALS.contains(type) && !fits(type, "", column)) {
          missing.add(type + " in " + column);
        }
      }
    }
    // The samples are too few here: LONG has 19 digits and no room for three, FLOAT has 0.1 as
    // well.
    missing.remove("LONG in DECIMAL(18,2)");
    missing.removeIf(pair -> pair.startsWith("FLOAT in DECIMAL("));
    assertEquals(Set.of(), missing);
  }

  private interface Pair {
    void visit(QwpType type, String value, String column, boolean fits);
  }

  private void forEachPair(Pair pair) {
    shown.forEach(
        (type, values) ->
            values
                .keySet()
                .forEach(
                    value -> {
                      for (String column : columns) {
                        pair.visit(type, value, column, fits(type, value, column));
                      }
                    }));
  }

  private static boolean fits(QwpType type, String value, String column) {
    return TableTypes.fits(new TableSpec.Column("x", type, sqlType(type, value)), column);
  }

  /** The type that carries a value of the record. */
  private static String sqlType(QwpType type, String value) {
    return switch (type) {
      case GEOHASH -> value.endsWith("b") ? "GEOHASH(" + value + ")" : "GEOHASH(20b)";
      case DOUBLE_ARRAY -> value.startsWith("[[") ? "DOUBLE[][]" : "DOUBLE[]";
      case DECIMAL64, DECIMAL128, DECIMAL256 -> {
        int digits = type == QwpType.DECIMAL64 ? 18 : type == QwpType.DECIMAL128 ? 38 : 76;
        int point = value.indexOf('.');
        int scale =
            value.contains("s")
                ? Integer.parseInt(value.substring(value.indexOf('s') + 1))
                : point < 0 ? 0 : value.length() - point - 1;
        yield "DECIMAL(" + digits + "," + scale + ")";
      }
      case LONG_ARRAY -> "LONG[]";
      default -> type.name();
    };
  }

  private String shownIn(QwpType type, String value, String column) {
    return shown.get(type).get(value).get(column);
  }

  private boolean isSame(QwpType type, String value, String column) {
    String there = shownIn(type, value, column);
    if (value.equals("NULL") && WITHOUT_NULL.contains(type)) {
      return true;
    }
    if (value.equals("NULL") || value.equals("NaN")) {
      return "None".equals(there) || there != null && isOwn(type, column);
    }
    String own = ownText(type, value);
    if (type == QwpType.TIMESTAMP && column.equals("TIMESTAMP_NS")) {
      own = own.replace("Z", "000Z");
    }
    return there != null && (there.equals(own) || isNumber(type) && equalNumbers(own, there));
  }

  private static boolean isOwn(QwpType type, String column) {
    return column.equals(type.name());
  }

  /** What is shown of it in a column of its own type. */
  private String ownText(QwpType type, String value) {
    return switch (type) {
      case TIMESTAMP_NANOS -> shownIn(type, value, "TIMESTAMP_NS");
      case IPV4 -> shownIn(type, value, "IPv4");
      case DOUBLE_ARRAY -> shownIn(type, value, value.startsWith("[[") ? "DOUBLE[][]" : "DOUBLE[]");
      case LONG_ARRAY -> value;
      case GEOHASH ->
          switch (value) {
            case "5b" -> shownIn(type, value, "GEOHASH(1c)");
            case "20b" -> shownIn(type, value, "GEOHASH(4c)");
            case "60b" -> shownIn(type, value, "GEOHASH(12c)");
            default -> "of " + value;
          };
      case DECIMAL64, DECIMAL128, DECIMAL256 -> value.replaceFirst("s\\d+$", "");
      default -> shownIn(type, value, type.name());
    };
  }

  private static boolean isNumber(QwpType type) {
    return switch (type) {
      case BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DECIMAL64, DECIMAL128, DECIMAL256 -> true;
      default -> false;
    };
  }

  /** A quoted number is that of a decimal. */
  private static boolean equalNumbers(String a, String b) {
    try {
      return new BigDecimal(a).compareTo(new BigDecimal(b.replace("'", ""))) == 0;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  @Test
  void arraysOfLongsHaveNoType() {
    SfException e = assertThrows(SfException.class, () -> TableTypes.sqlName(QwpType.LONG_ARRAY));
    assertEquals(ErrorCode.TYPE_UNSUPPORTED, e.code());
    assertTrue(e.getMessage().contains("DOUBLE[]"), e.getMessage());
  }

  /** Digits, precision and dimensions of plain rows are compared by the server. */
  @Test
  void plainColumnsFitByTheirFamily() {
    assertTrue(fitsPlain(QwpType.DECIMAL256, "DECIMAL(9,2)"));
    assertFalse(fitsPlain(QwpType.DECIMAL256, "DOUBLE"));
    assertTrue(fitsPlain(QwpType.GEOHASH, "GEOHASH(7c)"));
    assertFalse(fitsPlain(QwpType.GEOHASH, "LONG"));
    assertTrue(fitsPlain(QwpType.DOUBLE_ARRAY, "DOUBLE[][][]"));
    assertFalse(fitsPlain(QwpType.DOUBLE_ARRAY, "DOUBLE"));
    assertTrue(fitsPlain(QwpType.IPV4, "IPv4"));
    assertTrue(fitsPlain(QwpType.TIMESTAMP_NANOS, "TIMESTAMP_NS"));
    assertFalse(fitsPlain(QwpType.TIMESTAMP_NANOS, "TIMESTAMP"));
  }

  private static boolean fitsPlain(QwpType type, String column) {
    return TableTypes.fits(TableTypes.plain("x", type), column);
  }

  /**
   * Of one type for all whole numbers, as in Python, the values decide; the server's "no" is loud.
   */
  @Test
  void wholeNumbersFitWhatDoesNotChangeThem() {
    for (long value : new long[] {0, -1, 127, Integer.MIN_VALUE + 1, 1L << 53, -(1L << 53)}) {
      for (String column : WHOLE) {
        assertTrue(fitsWhole(column, value), value + " in " + column);
      }
      assertFalse(fitsWhole("FLOAT", value), value + " in FLOAT");
    }
    for (long value : new long[] {Integer.MIN_VALUE, (1L << 53) + 1, -(1L << 53) - 1}) {
      for (String column : WHOLE) {
        boolean own = column.equals("LONG") || column.equals("DECIMAL(19,0)");
        assertEquals(own, fitsWhole(column, value), value + " in " + column);
        assertEquals(own, fitsWhole(column, 5, value, 5), "5, " + value + ", 5 in " + column);
      }
    }
    assertFalse(fitsPlain(QwpType.LONG, "INT"), "longs that are longs");
  }

  private static final List<String> WHOLE =
      List.of("BYTE", "SHORT", "INT", "LONG", "DOUBLE", "DECIMAL(19,0)");

  private static boolean fitsWhole(String column, long... values) {
    TableBlock block = block();
    for (long value : values) {
      block.column("x", QwpType.LONG).putWholeNumber(value);
      block.endRow();
    }
    return TableTypes.fits(TableTypes.plain(block.columns().get(0)), column);
  }

  /** The table is looked at again when the first value comes that a column could change. */
  @Test
  void aNumberThatFitsFewerColumnsAsksForAnotherLook() {
    TableBlock block = block();
    block.column("x", QwpType.LONG).putWholeNumber(5);
    block.endRow();
    block.noteColumns();
    block.column("x", QwpType.LONG).putWholeNumber(6);
    assertFalse(block.hasNewColumns());
    block.endRow();
    block.column("x", QwpType.LONG).putWholeNumber(Integer.MIN_VALUE);
    assertTrue(block.hasNewColumns());
    block.endRow();
    block.noteColumns();
    block.column("x", QwpType.LONG).putWholeNumber(Integer.MIN_VALUE);
    assertFalse(block.hasNewColumns());
  }

  private static TableBlock block() {
    return new TableBlock("t", new SymbolDictionary(), 127);
  }
}
