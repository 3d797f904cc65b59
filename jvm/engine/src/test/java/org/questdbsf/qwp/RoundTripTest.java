package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random blocks, whole and in slices, come out of the decoder as they went in. */
class RoundTripTest {
  private final MessageEncoder encoder = new MessageEncoder();

  @Test
  void slicesOfRandomTables() throws Exception {
    for (int round = 0; round < 400; round++) {
      long seed = 7_000 + round;
      try {
        slices(new Random(seed));
      } catch (AssertionError | RuntimeException | MalformedMessageException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private void slices(Random random) throws Exception {
    SymbolDictionary dictionary = new SymbolDictionary();
    RandomTable table = new RandomTable("t", dictionary, random);
    for (int batch = 0; batch < 3; batch++) {
      table.clear();
      table.fill(random.nextInt(random.nextInt(10) == 0 ? 1000 : 150));
      int rows = table.block.rows();
      slice(table, dictionary, 0, rows);
      for (int i = 0; i < 5; i++) {
        int from = random.nextInt(rows + 1);
        slice(table, dictionary, from, from + random.nextInt(rows - from + 1));
      }
    }
  }

  private void slice(RandomTable table, SymbolDictionary dictionary, int from, int to)
      throws Exception {
    // A frame that stands by itself: all ids up to the highest that it uses.
    int limit = table.block.symbolLimit(from, to);
    encoder.encode(table.block, from, to, dictionary, 0, limit);
    assertEquals(
        encoder.length(),
        MessageEncoder.overheadBytes(dictionary, 0, limit) + table.block.encodedBytes(from, to));
    ConnectionSymbols symbols = new ConnectionSymbols();
    QwpMessage message = new MessageDecoder(symbols).decode(encoder.array(), 0, encoder.length());
    assertEquals(limit, symbols.size());
    assertTrue(table.block.symbolLimit() >= limit);
    check(table, message.tables().get(0), from, to);
  }

  private static void check(RandomTable table, DecodedTable decoded, int from, int to) {
    assertEquals(to - from, decoded.rows());
    List<DecodedColumn> columns = new ArrayList<>(decoded.columns());
    for (String name : table.names()) {
      DecodedColumn column =
          columns.stream().filter(c -> c.name().equalsIgnoreCase(name)).findFirst().orElse(null);
      columns.remove(column);
      for (int row = from; row < to; row++) {
        Object expected = table.expected(row, name);
        if (column == null) {
          assertNull(expected, name + " was left out");
          continue;
        }
        if (expected == null) {
          expected = nothing(table.type(name));
        }
        assertEquals(expected, Rendered.cell(column, row - from), name + ", row " + row);
      }
    }
    assertEquals(List.of(), columns);
    if (decoded.columns().stream().anyMatch(c -> c.name().isEmpty())) {
      assertEquals("", decoded.columns().get(decoded.columns().size() - 1).name());
    }
  }

  /** What a row without value reads as. */
  private static Object nothing(QwpType type) {
    return switch (type) {
      case BOOLEAN -> false;
      case BYTE, SHORT, CHAR -> 0L;
      default -> null;
    };
  }

  @Test
  void severalTablesOverOneConnection() throws Exception {
    for (int round = 0; round < 50; round++) {
      long seed = 9_000 + round;
      Random random = new Random(seed);
      SymbolDictionary dictionary = new SymbolDictionary();
      ConnectionSymbols symbols = new ConnectionSymbols();
      List<RandomTable> tables = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        tables.add(new RandomTable("t" + i, dictionary, random));
      }
      int sent = 0;
      for (int message = 0; message < 4; message++) {
        tables.forEach(RandomTable::clear);
        tables.forEach(t -> t.fill(random.nextInt(20)));
        encoder.encode(
            tables.stream().map(t -> t.block).toList(), dictionary, sent, dictionary.size());
        sent = dictionary.size();
        QwpMessage decoded =
            new MessageDecoder(symbols).decode(encoder.array(), 0, encoder.length());
        assertEquals(sent, symbols.size(), "seed " + seed);
        int next = 0;
        for (RandomTable table : tables) {
          if (table.block.rows() > 0) {
            check(table, decoded.tables().get(next++), 0, table.block.rows());
          }
        }
        assertEquals(next, decoded.tables().size(), "seed " + seed);
      }
    }
  }
}
