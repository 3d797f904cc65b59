package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Messages that the released client sent, each with the rows that went in and what came out: our
 * decoder reads the same rows, and our encoder makes the same of the same rows.
 *
 * <p>Our bytes differ from theirs where the format leaves a choice. Theirs writes absent INT, LONG
 * and DOUBLE cells as sentinels, ours in a bitmap; theirs puts the designated timestamp behind the
 * columns of the first row, ours behind all; theirs defers the commit of a split batch, ours never.
 * Ids of symbols, which theirs gives in another order, are given in the recorded order first.
 */
class RecordedFramesTest {
  /** Files in which no such choice was made: there the bytes are equal. */
  private static final Set<String> EQUAL_BYTES =
      Set.of(
          "01_single_row",
          "03_symbols_repeat",
          "04_symbol_null",
          "09_timestamps",
          "21_multi_table",
          "22_server_ts",
          "23_two_frames",
          "26_unicode_names",
          "29_long_minmax",
          "43_df_arrow_temporal_decimal");

  private final SymbolDictionary dictionary = new SymbolDictionary();
  private final Map<String, TableBlock> blocks = new LinkedHashMap<>();
  private final ConnectionSymbols symbols = new ConnectionSymbols();

  /** The released client sends infinities, which QuestDB reads as null; ours refuses them. */
  private static final String WITH_INFINITIES = "06_double_special";

  static List<String> namesToEncode() throws Exception {
    return names().stream().filter(name -> !name.equals(WITH_INFINITIES)).toList();
  }

  static List<String> names() throws Exception {
    Path dir = Path.of(RecordedFramesTest.class.getResource("/frames").toURI());
    try (Stream<Path> files = Files.list(dir)) {
      return files.map(f -> f.getFileName().toString().replace(".json", "")).sorted().toList();
    }
  }

  @Test
  void allRecordedFilesAreThere() throws Exception {
    assertEquals(26, names().size());
    assertTrue(names().containsAll(EQUAL_BYTES));
  }

  @ParameterizedTest
  @MethodSource("names")
  void decodesToTheRecordedRows(String name) throws Exception {
    Map<String, Object> file = read(name);
    List<Map<String, Object>> recorded = cast(file.get("decoded"));
    List<String> frames = cast(file.get("frames_hex"));
    assertEquals(recorded.size(), frames.size());
    for (int i = 0; i < frames.size(); i++) {
      byte[] bytes = Hex.bytes(frames.get(i));
      QwpMessage message = new MessageDecoder(symbols).decode(bytes, 0, bytes.length);
      Map<String, Object> expected = recorded.get(i);
      Map<String, Object> delta = cast(expected.get("delta"));
      assertEquals(expected.get("flags"), (long) message.flags());
      assertEquals(delta.get("start"), (long) message.deltaStart());
      assertEquals(delta.get("entries"), message.delta());
      assertEquals(
          new SymbolDelta(message.deltaStart(), message.delta()),
          MessageDecoder.decodeDelta(bytes, 0, bytes.length));
      assertEquals(tables(expected), message.tables().stream().map(Rendered::table).toList());
    }
  }

  @Test
  void refusesTheInfinitiesThatTheClientSent() throws Exception {
    List<Map<String, Object>> rows = cast(read(WITH_INFINITIES).get("rows"));
    int refused = 0;
    for (Map<String, Object> row : rows) {
      try {
        putGiven(row);
      } catch (SfException e) {
        assertEquals(ErrorCode.VALUE_INVALID, e.code());
        refused++;
      }
    }
    assertEquals(2, refused);
  }

  @ParameterizedTest
  @MethodSource("namesToEncode")
  void encodesTheSameRowsToTheSame(String name) throws Exception {
    Map<String, Object> file = read(name);
    List<Map<String, Object>> recorded = cast(file.get("decoded"));
    List<String> frames = cast(file.get("frames_hex"));
    MessageEncoder encoder = new MessageEncoder();
    boolean equal = true;
    for (int i = 0; i < frames.size(); i++) {
      int known = dictionary.size();
      Map<String, Object> delta = cast(recorded.get(i).get("delta"));
      List<String> texts = cast(delta.get("entries"));
      texts.forEach(dictionary::idOf);
      blocks.values().forEach(TableBlock::clear);
      putRows(file, i, recorded.get(i));
      encoder.encode(List.copyOf(blocks.values()), dictionary, known, dictionary.size());
      QwpMessage message = new MessageDecoder(symbols).decode(encoder.array(), 0, encoder.length());
      assertEquals(
          anyOrder(tables(recorded.get(i))),
          anyOrder(message.tables().stream().map(Rendered::table).toList()));
      equal &= frames.get(i).equals(Hex.of(encoder));
    }
    assertEquals(EQUAL_BYTES.contains(name), equal, "bytes equal to the recorded ones");
  }

  /** The rows of one frame: as the client was given them, or, of a data frame, as recorded. */
  private void putRows(Map<String, Object> file, int frame, Map<String, Object> recorded) {
    List<Map<String, Object>> rows = cast(file.get("rows"));
    if (!rows.get(0).containsKey("columns")) {
      tables(recorded).forEach(this::putRecorded);
      return;
    }
    List<Long> flushes = new ArrayList<>();
    if (file.get("flush_before_row") != null) {
      flushes = cast(file.get("flush_before_row"));
    }
    int from = frame == 0 ? 0 : flushes.get(frame - 1).intValue();
    int to = frame < flushes.size() ? flushes.get(frame).intValue() : rows.size();
    rows.subList(from, to).forEach(this::putGiven);
  }

  private TableBlock block(Object table) {
    return blocks.computeIfAbsent(
        (String) table, name -> new TableBlock(name, dictionary, QwpLimits.MAX_NAME_BYTES));
  }

  private void putGiven(Map<String, Object> row) {
    TableBlock block = block(row.get("table"));
    Map<String, String> texts = cast(row.get("symbols"));
    texts.forEach((name, text) -> block.column(name, QwpType.SYMBOL).putText(text));
    Map<String, Map<String, Object>> columns = cast(row.get("columns"));
    columns.forEach((name, cell) -> putGiven(block, name, cell));
    if (row.get("at_ns") instanceof Long nanos) {
      block.designated(QwpType.TIMESTAMP_NANOS).putLong(nanos);
    }
    block.endRow();
  }

  private static void putGiven(TableBlock block, String name, Map<String, Object> cell) {
    Object value = cell.get("value");
    String type = (String) cell.get("type");
    QwpType qwp =
        switch (type) {
          case "timestamp_us" -> QwpType.TIMESTAMP;
          case "timestamp_ns" -> QwpType.TIMESTAMP_NANOS;
          case "decimal" -> QwpType.DECIMAL256;
          default -> QwpType.valueOf(type.replaceFirst("_(ms|hex)$", "").toUpperCase(Locale.ROOT));
        };
    ColumnBuffer column = block.column(name, qwp);
    switch (type) {
      case "double" -> column.putDouble(number(value));
      case "geohash" -> column.putGeohash((long) value, ((Long) cell.get("bits")).intValue());
      case "double_array" -> putArray(column, cell.get("shape"), flat(value));
      case "binary_hex" -> put(column, "hex:" + value);
      default -> put(column, value);
    }
  }

  private void putRecorded(Map<String, Object> table) {
    TableBlock block = block(table.get("table"));
    List<String> schema = cast(table.get("schema"));
    List<Map<String, Object>> data = cast(table.get("data"));
    for (Map<String, Object> row : data) {
      for (String nameAndType : schema) {
        int colon = nameAndType.lastIndexOf(':');
        String name = nameAndType.substring(0, colon);
        QwpType type = QwpType.valueOf(nameAndType.substring(colon + 1));
        put(
            name.isEmpty() ? block.designated(type) : block.column(name, type),
            row.get(name.isEmpty() ? "<designated>" : name));
      }
      block.endRow();
    }
  }

  private static void put(ColumnBuffer column, Object value) {
    if (value == null) {
      column.putNull();
      return;
    }
    switch (column.type()) {
      case BOOLEAN -> column.putBoolean((boolean) value);
      case SYMBOL, VARCHAR -> column.putText((String) value);
      case CHAR -> column.putLong(((String) value).charAt(0));
      case BINARY -> {
        byte[] bytes = HexFormat.of().parseHex(((String) value).substring("hex:".length()));
        column.putBytes(bytes, 0, bytes.length);
      }
      case UUID -> {
        UUID uuid = UUID.fromString((String) value);
        column.putUuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
      }
      case IPV4 -> {
        long address = 0;
        for (String octet : ((String) value).split("\\.")) {
          address = address << 8 | Integer.parseInt(octet);
        }
        column.putLong(address);
      }
      case LONG256 -> {
        BigInteger number = new BigInteger(((String) value).substring(2), 16);
        column.putLong256(
            number.longValue(),
            number.shiftRight(64).longValue(),
            number.shiftRight(128).longValue(),
            number.shiftRight(192).longValue());
      }
      case DECIMAL64, DECIMAL128, DECIMAL256 -> column.putDecimal(new BigDecimal((String) value));
      default -> column.putLong((long) value);
    }
  }

  private static void putArray(ColumnBuffer column, Object shape, List<Object> elements) {
    List<Long> lengths = cast(shape);
    column.putDoubleArray(
        elements.stream().mapToDouble(e -> ((Number) e).doubleValue()).toArray(),
        lengths.stream().mapToInt(Long::intValue).toArray());
  }

  private static List<Object> flat(Object value) {
    List<Object> elements = new ArrayList<>();
    for (Object element : (List<?>) value) {
      if (element instanceof List<?>) {
        elements.addAll(flat(element));
      } else {
        elements.add(element);
      }
    }
    return elements;
  }

  private static double number(Object value) {
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    return switch ((String) value) {
      case "nan" -> Double.NaN;
      case "inf" -> Double.POSITIVE_INFINITY;
      default -> Double.NEGATIVE_INFINITY;
    };
  }

  /** Recorded tables in the form of {@link Rendered#table}. */
  private static List<Map<String, Object>> tables(Map<String, Object> decoded) {
    List<Map<String, Object>> tables = new ArrayList<>();
    List<Map<String, Object>> recorded = cast(decoded.get("tables"));
    for (Map<String, Object> table : recorded) {
      Map<String, Object> plain = new HashMap<>(table);
      List<Map<String, Object>> schema = cast(table.get("schema"));
      plain.put("schema", schema.stream().map(c -> c.get("name") + ":" + c.get("type")).toList());
      tables.add(plain);
    }
    return tables;
  }

  /** The same without the order of columns. */
  private static List<Map<String, Object>> anyOrder(List<Map<String, Object>> tables) {
    List<Map<String, Object>> sorted = new ArrayList<>();
    for (Map<String, Object> table : tables) {
      Map<String, Object> copy = new HashMap<>(table);
      List<String> schema = cast(table.get("schema"));
      copy.put("schema", schema.stream().sorted().toList());
      sorted.add(copy);
    }
    return sorted;
  }

  private static Map<String, Object> read(String name) throws Exception {
    Path file = Path.of(RecordedFramesTest.class.getResource("/frames/" + name + ".json").toURI());
    return cast(Json.parse(Files.readString(file)));
  }

  @SuppressWarnings("unchecked")
  private static <T> T cast(Object value) {
    return (T) value;
  }
}
