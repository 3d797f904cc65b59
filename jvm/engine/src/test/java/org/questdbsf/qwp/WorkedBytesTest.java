package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Bytes worked out by hand from the description of the format, not by this encoder. */
class WorkedBytesTest {
  private static final String MESSAGE_A =
      """
      51 57 50 31 01 08 01 00 43 00 00 00
      00 02 02 45 55 02 55 53
      01 74 03 03
      01 73 09  01 76 05  00 0a
      00 00 01 00
      01 02 05 00 00 00 00 00 00 00 fa ff ff ff ff ff ff ff
      00 40 42 0f 00 00 00 00 00 80 84 1e 00 00 00 00 00 c0 c6 2d 00 00 00 00 00
      """;
  private static final String MESSAGE_B =
      """
      51 57 50 31 01 08 01 00 1b 00 00 00 | 02 01 04 41 50 41 43
      | 01 74 01 02 01 73 09 00 0a | 00 02 | 00 00 09 3d 00 00 00 00 00
      """;

  private final SymbolDictionary dictionary = new SymbolDictionary();
  private final MessageEncoder encoder = new MessageEncoder();

  private static void row(TableBlock block, String symbol, Long value, long micros) {
    block.column("s", QwpType.SYMBOL).putText(symbol);
    if (value != null) {
      block.column("v", QwpType.LONG).putLong(value);
    }
    block.designated(QwpType.TIMESTAMP).putLong(micros);
    block.endRow();
  }

  @Test
  void threeRowsWithSymbolsAndANull() throws Exception {
    TableBlock block = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);
    row(block, "EU", 5L, 1_000_000);
    row(block, "US", null, 2_000_000);
    row(block, "EU", -6L, 3_000_000);
    assertEquals(2, block.symbolLimit());
    encoder.encode(block, 0, 3, dictionary, 0, 2);
    assertEquals(Hex.plain(MESSAGE_A), Hex.of(encoder));
    assertEquals(
        encoder.length(), MessageEncoder.overheadBytes(dictionary, 0, 2) + block.encodedBytes());

    ConnectionSymbols symbols = new ConnectionSymbols();
    QwpMessage message = decode(symbols, MESSAGE_A);
    assertEquals(List.of("EU", "US"), message.delta());
    DecodedTable table = message.tables().get(0);
    assertEquals("t", table.name());
    assertEquals(3, table.rows());
    assertEquals("US", table.columns().get(0).getText(1));
    assertTrue(table.columns().get(1).isNull(1));
    assertEquals(-6, table.columns().get(1).getLong(2));
    assertEquals(3_000_000, table.columns().get(2).getLong(2));
  }

  @Test
  void theNextMessageCarriesTheNewSymbolOnly() throws Exception {
    dictionary.idOf("EU");
    dictionary.idOf("US");
    TableBlock block = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);
    row(block, "APAC", null, 4_000_000);
    encoder.encode(List.of(block), dictionary, 2, 3);
    assertEquals(Hex.plain(MESSAGE_B), Hex.of(encoder));

    ConnectionSymbols symbols = new ConnectionSymbols();
    decode(symbols, MESSAGE_A);
    QwpMessage message = decode(symbols, MESSAGE_B);
    assertEquals("APAC", message.tables().get(0).columns().get(0).getText(0));
    assertEquals(3, symbols.size());
  }

  @Test
  void messagesWithoutTables() throws Exception {
    for (String text : List.of("EU", "US", "APAC")) {
      dictionary.idOf(text);
    }
    encoder.encode(List.of(), dictionary, 3, 3);
    assertEquals(Hex.plain("51 57 50 31 01 08 00 00 02 00 00 00 03 00"), Hex.of(encoder));
    encoder.encodeDictionary(dictionary, 0, 3);
    String catchUp = "51 57 50 31 01 08 00 00 0d 00 00 00 00 03 02 45 55 02 55 53 04 41 50 41 43";
    assertEquals(Hex.plain(catchUp), Hex.of(encoder));
    ConnectionSymbols symbols = new ConnectionSymbols();
    assertEquals(List.of(), decode(symbols, catchUp).tables());
    assertEquals("APAC", symbols.text(2));
  }

  /** Not written, but other clients may have. */
  @Test
  void arraysOfLongsAreRead() throws Exception {
    String message =
        """
        51 57 50 31 01 08 01 00 1f 00 00 00 00 00 01 74 01 01 01 61 12 00 01 02 00 00 00
        07 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff
        """;
    DecodedColumn column =
        decode(new ConnectionSymbols(), message).tables().get(0).columns().get(0);
    assertArrayEquals(new long[] {7, -1}, column.getLongArray(0));
  }

  @Test
  void gorilla() throws Exception {
    String message =
        """
        51 57 50 31 01 0c 01 00 1b 00 00 00 00 00 01 67 03 01 00 0a 00 01
        e8 03 00 00 00 00 00 00 d0 07 00 00 00 00 00 00 00
        """;
    DecodedColumn column =
        decode(new ConnectionSymbols(), message).tables().get(0).columns().get(0);
    assertArrayEquals(new long[] {1000, 2000, 3000}, longs(column));
    assertArrayEquals(
        new long[] {1000, 2000, 3000, 4010, 5000},
        longs(gorilla("05", "01 e803000000000000 d007000000000000 52 c4 06")));
    assertArrayEquals(
        new long[] {10, 20}, longs(gorilla("02", "00 0a00000000000000 1400000000000000")));
    assertArrayEquals(
        new long[] {0, 1, 3000},
        longs(gorilla("03", "01 0000000000000000 0100000000000000 6f bb 00 00 00")));
  }

  @Test
  void aDeferredMessageSaysSo() throws Exception {
    byte[] bytes = Hex.bytes(MESSAGE_A);
    assertEquals(false, MessageHeader.isDeferred(bytes, 0));
    bytes[5] = 0x09;
    assertTrue(MessageHeader.isDeferred(bytes, 0));
    assertTrue(
        new MessageDecoder(new ConnectionSymbols()).decode(bytes, 0, bytes.length).deferred());
  }

  @Test
  void columnBodies() {
    body(QwpType.BOOLEAN, "00 0d 02", c -> booleans(c, "TFTTFFFFFT"));
    body(QwpType.BYTE, "00 ff", c -> put(c, b -> b.putLong(-1)));
    body(QwpType.SHORT, "00 fe ff", c -> put(c, b -> b.putLong(-2)));
    body(QwpType.INT, "00 fd ff ff ff", c -> put(c, b -> b.putLong(-3)));
    body(QwpType.FLOAT, "00 00 00 c0 3f", c -> put(c, b -> b.putFloat(1.5f)));
    body(QwpType.DOUBLE, "00 9a 99 99 99 99 99 b9 3f", c -> put(c, b -> b.putDouble(0.1)));
    body(
        QwpType.VARCHAR,
        "01 02 | 00000000 02000000 02000000 05000000 | 61 62 63 c3 a9",
        c -> {
          put(c, b -> b.putText("ab"));
          put(c, ColumnBuffer::putNull);
          put(c, b -> b.putText(""));
          put(c, b -> b.putText("cé"));
        });
    body(
        QwpType.BINARY,
        "00 | 00000000 02000000 02000000 | 00 ff",
        c -> {
          put(c, b -> b.putBytes(new byte[] {9, 0, -1, 9}, 1, 2));
          put(c, b -> b.putBytes(new byte[0], 0, 0));
        });
    body(
        QwpType.UUID,
        "00 ff ee dd cc bb aa 99 88 77 66 55 44 33 22 11 00",
        c -> put(c, b -> b.putUuid(0x0011223344556677L, 0x8899aabbccddeeffL)));
    body(
        QwpType.LONG256,
        "00 0400000000000000 0300000000000000 0200000000000000 0100000000000000",
        c -> put(c, b -> b.putLong256(4, 3, 2, 1)));
    body(
        QwpType.GEOHASH,
        "00 14 de bc 0a 45 23 01",
        c -> {
          put(c, b -> b.putGeohash(0xABCDE, 20));
          put(c, b -> b.putGeohash(0x12345, 20));
        });
    body(QwpType.IPV4, "00 0a 01 a8 c0", c -> put(c, b -> b.putLong(0xC0A8010AL)));
    body(
        QwpType.CHAR,
        "00 41 00 ac 20",
        c -> {
          put(c, b -> b.putLong('A'));
          put(c, b -> b.putLong('€'));
        });
    body(QwpType.DATE, "00 00 5c 26 05 00 00 00 00", c -> put(c, b -> b.putLong(86_400_000)));
    body(
        QwpType.DECIMAL64,
        "00 02 d204000000000000 fbffffffffffffff",
        c -> {
          put(c, b -> b.putDecimal(new BigDecimal("12.34")));
          put(c, b -> b.putDecimal(new BigDecimal("-0.05")));
        });
    body(
        QwpType.DECIMAL128,
        "00 03 24fa" + "ff".repeat(14),
        c -> put(c, b -> b.putDecimal(new BigDecimal("-1.500"))));
    body(QwpType.DECIMAL256, "00 00 07" + "00".repeat(31), c -> put(c, b -> b.putDecimal(7, 0)));
    body(
        QwpType.DOUBLE_ARRAY,
        "00 02 02000000 02000000 000000000000f03f 0000000000000040"
            + "0000000000000840 0000000000001040",
        c -> put(c, b -> b.putDoubleArray(new double[] {1, 2, 3, 4}, new int[] {2, 2})));
    body(
        QwpType.DOUBLE_ARRAY,
        "00 01 00000000",
        c -> put(c, b -> b.putDoubleArray(new double[0], new int[1])));
  }

  @Test
  void bitsBehindTheLastBooleanOfASliceAreZero() {
    current = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);
    booleans(current.column("c", QwpType.BOOLEAN), "T".repeat(64));
    for (int rows = 1; rows < 64; rows++) {
      encoder.encode(current, 0, rows, dictionary, 0, 0);
      int last = encoder.array()[encoder.length() - 1] & 0xFF;
      assertEquals(0xFF >> (8 - rows % 8) % 8, last, rows + " rows");
    }
  }

  private TableBlock current;

  private void put(ColumnBuffer column, Consumer<ColumnBuffer> value) {
    value.accept(column);
    current.endRow();
  }

  private void booleans(ColumnBuffer column, String values) {
    for (char c : values.toCharArray()) {
      put(column, b -> b.putBoolean(c == 'T'));
    }
  }

  private void body(QwpType type, String expected, Consumer<ColumnBuffer> rows) {
    current = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);
    rows.accept(current.column("c", type));
    encoder.encode(current, 0, current.rows(), dictionary, 0, 0);
    // Behind header, empty delta, "t", row count, column count, "c" and its type.
    int begin = MessageHeader.SIZE + 2 + 2 + 1 + 1 + 3;
    assertEquals(
        Hex.plain(expected), Hex.text(encoder.array(), begin, encoder.length()), "" + type);
  }

  private static DecodedColumn gorilla(String rows, String body) throws Exception {
    String table = "00 00 01 67" + rows + "01 00 0a 00" + body;
    int payload = Hex.bytes(table).length;
    return decode(
            new ConnectionSymbols(),
            String.format("51 57 50 31 01 0c 01 00 %02x 00 00 00", payload) + table)
        .tables()
        .get(0)
        .columns()
        .get(0);
  }

  private static long[] longs(DecodedColumn column) {
    long[] values = new long[column.rows()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.getLong(i);
    }
    return values;
  }

  private static QwpMessage decode(ConnectionSymbols symbols, String hex) throws Exception {
    byte[] bytes = Hex.bytes(hex);
    return new MessageDecoder(symbols).decode(bytes, 0, bytes.length);
  }
}
