package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/** Every wire type arrives in a column of its QuestDB type, exactly, and nulls as nulls. */
@Timeout(60)
class AllTypesTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /**
   * One type.
   *
   * @param type wire type
   * @param columnType what the server makes of it
   * @param select how SQL shows column {@code x}
   * @param values one writer for each value; null: a null
   * @param shown what SQL shows
   */
  record Case(
      QwpType type,
      String columnType,
      String select,
      List<Consumer<ColumnBuffer>> values,
      List<Object> shown) {
    @Override
    public String toString() {
      return type.toString();
    }
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static List<Consumer<ColumnBuffer>> values(Consumer<ColumnBuffer>... values) {
    return Arrays.asList(values);
  }

  private static Consumer<ColumnBuffer> number(long value) {
    return c -> c.putLong(value);
  }

  private static Consumer<ColumnBuffer> decimal(String value) {
    return c -> c.putDecimal(new BigDecimal(value));
  }

  private static Consumer<ColumnBuffer> text(String value) {
    return c -> c.putText(value);
  }

  private static Consumer<ColumnBuffer> bytes(int... value) {
    byte[] bytes = new byte[value.length];
    for (int i = 0; i < value.length; i++) {
      bytes[i] = (byte) value[i];
    }
    return c -> c.putBytes(bytes, 0, bytes.length);
  }

  static Stream<Case> cases() {
    return Stream.of(
        new Case(
            QwpType.BOOLEAN,
            "BOOLEAN",
            "x",
            values(c -> c.putBoolean(true), null, c -> c.putBoolean(false)),
            List.of(true, false, false)),
        new Case(
            QwpType.BYTE,
            "BYTE",
            "x",
            values(number(-128), null, number(127)),
            List.of(-128L, 0L, 127L)),
        new Case(
            QwpType.SHORT,
            "SHORT",
            "x",
            values(number(-32768), null, number(32767)),
            List.of(-32768L, 0L, 32767L)),
        new Case(
            QwpType.INT,
            "INT",
            "x",
            values(number(-2147483647), null, number(2147483647)),
            Arrays.asList(-2147483647L, null, 2147483647L)),
        new Case(
            QwpType.LONG,
            "LONG",
            "x",
            values(number(-Long.MAX_VALUE), null, number(Long.MAX_VALUE)),
            Arrays.asList(-Long.MAX_VALUE, null, Long.MAX_VALUE)),
        new Case(
            QwpType.FLOAT,
            "FLOAT",
            "x",
            values(c -> c.putFloat(1.5f), null, c -> c.putFloat(-0.25f)),
            Arrays.asList(1.5, null, -0.25)),
        new Case(
            QwpType.DOUBLE,
            "DOUBLE",
            "x",
            values(c -> c.putDouble(0.1), null, c -> c.putDouble(-Double.MIN_NORMAL)),
            Arrays.asList(0.1, null, -Double.MIN_NORMAL)),
        new Case(
            QwpType.SYMBOL,
            "SYMBOL",
            "x",
            values(text("EU"), null, text(""), text("EU"), text("ü€😀")),
            Arrays.asList("EU", null, "", "EU", "ü€😀")),
        new Case(
            QwpType.TIMESTAMP,
            "TIMESTAMP",
            "x",
            values(number(-1), null, number(1_704_067_200_123_456L)),
            Arrays.asList("1969-12-31T23:59:59.999999Z", null, "2024-01-01T00:00:00.123456Z")),
        new Case(
            QwpType.DATE,
            "DATE",
            "x",
            values(number(-1), null, number(1_704_067_200_123L)),
            Arrays.asList("1969-12-31T23:59:59.999Z", null, "2024-01-01T00:00:00.123Z")),
        new Case(
            QwpType.UUID,
            "UUID",
            "x",
            values(c -> c.putUuid(0x0011223344556677L, 0x8899aabbccddeeffL), null),
            Arrays.asList("00112233-4455-6677-8899-aabbccddeeff", null)),
        new Case(
            QwpType.LONG256,
            "LONG256",
            "x, x IS NULL",
            values(c -> c.putLong256(4, 3, 2, -1), null),
            Arrays.asList(
                List.of(
                    "0xffffffffffffffff000000000000000200000000000000030000000000000004", false),
                List.of("", true))),
        new Case(
            QwpType.GEOHASH,
            "GEOHASH(4c)",
            "x",
            values(c -> c.putGeohash(0b1010_1011_1100_1101_1110, 20), null),
            Arrays.asList("pg6y", null)),
        new Case(
            QwpType.GEOHASH,
            "GEOHASH(7b)",
            "x",
            values(c -> c.putGeohash(0b101_0101, 7), null),
            Arrays.asList("1010101", null)),
        new Case(
            QwpType.VARCHAR,
            "VARCHAR",
            "x",
            values(text("ab"), null, text(""), text("ü€😀 long enough not to be inlined")),
            Arrays.asList("ab", null, "", "ü€😀 long enough not to be inlined")),
        new Case(
            QwpType.TIMESTAMP_NANOS,
            "TIMESTAMP_NS",
            "x",
            values(number(1), null, number(1_704_067_200_123_456_789L)),
            Arrays.asList(
                "1970-01-01T00:00:00.000000001Z", null, "2024-01-01T00:00:00.123456789Z")),
        new Case(
            QwpType.DOUBLE_ARRAY,
            "DOUBLE[][]",
            "x",
            values(
                c -> c.putDoubleArray(new double[] {1, 2, 3, 4.5}, new int[] {2, 2}),
                null,
                c -> c.putDoubleArray(new double[0], new int[] {0, 3}),
                c -> c.putDoubleArray(new double[] {7}, new int[] {1, 1})),
            Arrays.asList(
                List.of(List.of(1.0, 2.0), List.of(3.0, 4.5)),
                null,
                List.of(),
                List.of(List.of(7.0)))),
        new Case(
            QwpType.DECIMAL64,
            "DECIMAL(18,2)",
            "x",
            values(decimal("9999999999999999.99"), null, decimal("-0.05")),
            Arrays.asList("9999999999999999.99", null, "-0.05")),
        new Case(
            QwpType.DECIMAL128,
            "DECIMAL(38,3)",
            "x",
            values(decimal("99999999999999999999999999999999999.999"), null, decimal("-1.500")),
            Arrays.asList("99999999999999999999999999999999999.999", null, "-1.500")),
        new Case(
            QwpType.DECIMAL256,
            "DECIMAL(76,20)",
            "x",
            values(
                decimal("9".repeat(56) + "." + "9".repeat(20)),
                null,
                decimal("-7.00000000000000000001")),
            Arrays.asList("9".repeat(56) + "." + "9".repeat(20), null, "-7.00000000000000000001")),
        new Case(QwpType.CHAR, "CHAR", "x", values(number('A'), number('€')), List.of("A", "€")),
        new Case(
            QwpType.BINARY,
            "BINARY",
            "base64(x, 100), length(x)",
            values(bytes(0, 255), null, bytes(), bytes(1, 2, 3)),
            Arrays.asList(
                List.of("AP8=", 2L),
                Arrays.asList(null, -1L),
                List.of("", 0L),
                List.of("AQID", 3L))),
        new Case(
            QwpType.IPV4,
            "IPv4",
            "x",
            values(number(0xC0A8010AL), null, number(0xFFFFFFFFL)),
            Arrays.asList("192.168.1.10", null, "255.255.255.255")));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void arrivesExactly(Case one) throws IOException {
    String table = "type_" + one.columnType().replaceAll("\\W+", "_");
    byte[] message =
        Messages.of(
            table,
            block -> {
              long time = 0;
              for (Consumer<ColumnBuffer> value : one.values()) {
                if (value != null) {
                  value.accept(block.column("x", one.type()));
                }
                block.designated(QwpType.TIMESTAMP).putLong(time++);
                block.endRow();
              }
            });
    try (RawClient client = RawClient.open(server.port())) {
      client.message(message);
      RawClient.Frame reply = client.read();
      assertEquals(0, reply.status(), () -> reply.text());
      assertEquals(0, reply.sequence());
      assertEquals(List.of(table), List.copyOf(reply.tables().keySet()));
    }
    server.awaitRows(table, one.values().size());
    assertEquals(
        one.columnType(),
        server.query("SELECT type FROM table_columns('" + table + "') WHERE column = 'x'")
            .get(0)[0]);
    List<Object[]> rows =
        server.query("SELECT " + one.select() + " FROM " + table + " ORDER BY timestamp");
    for (int i = 0; i < rows.size(); i++) {
      Object wanted = one.shown().get(i);
      Object[] row = rows.get(i);
      Object[] expected = row.length > 1 ? ((List<?>) wanted).toArray() : new Object[] {wanted};
      assertArrayEquals(expected, row, "row " + i);
    }
  }

  @Test
  void everyWireTypeIsTested() {
    // LONG arrays are refused: RefusalTest.
    assertEquals(
        EnumSet.complementOf(EnumSet.of(QwpType.LONG_ARRAY)),
        cases().map(Case::type).collect(Collectors.toSet()));
  }
}
