package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.TtlFloor;

/** Rows of every Spark type, encoded, and read back by the strict decoder. */
class RowEncoderTest {

  /** Encodes rows of one schema and reads them back. */
  private static final class Trip {
    final StructType schema;
    final SymbolDictionary dictionary = new SymbolDictionary();
    final TableBlock block = new TableBlock("t", dictionary, 127);
    final RowEncoder encoder;
    final RowEncoder.Binding binding;
    final UnsafeProjection unsafe;

    Trip(String ddl, String... options) {
      this.schema = StructType.fromDDL(ddl);
      Map<String, String> map = new HashMap<>(Map.of("addr", "h:1", "table", "t"));
      for (int i = 0; i < options.length; i += 2) {
        map.put(options[i], options[i + 1]);
      }
      SfOptions read = SfOptions.of(map);
      RowPlan plan = SchemaCheck.plan(read, schema, null);
      this.encoder = new RowEncoder(plan, read);
      DesignatedRange range =
          plan.designated() == null
              ? null
              : new DesignatedRange(
                  plan.designated().target().type(), new TtlFloor(), TtlFloor.NONE);
      this.binding = encoder.bind(block, range);
      this.unsafe = UnsafeProjection.create(schema);
    }

    /** Adds a row twice: as Spark's generic row, and as the UnsafeRow that it mostly hands over. */
    Trip add(Object... values) {
      InternalRow row = new GenericInternalRow(values);
      encoder.append(row, binding);
      encoder.append(unsafe.apply(row), binding);
      return this;
    }

    Map<String, DecodedColumn> read() throws Exception {
      MessageEncoder out = new MessageEncoder();
      out.encode(block, 0, block.rows(), dictionary, 0, dictionary.size());
      QwpMessage message =
          new MessageDecoder(new ConnectionSymbols()).decode(out.array(), 0, out.length());
      DecodedTable table = message.tables().get(0);
      assertEquals(block.rows(), table.rows());
      Map<String, DecodedColumn> columns = new LinkedHashMap<>();
      table.columns().forEach(column -> columns.put(column.name(), column));
      return columns;
    }

    DecodedColumn readOne() throws Exception {
      return read().values().iterator().next();
    }

    void refuses(Object value, String... words) {
      int before = block.rows();
      SfException e = Errors.of(ErrorCode.VALUE_INVALID, () -> add(value), words);
      Errors.says(e.getMessage(), "table 't'", "column '");
      assertEquals(before, block.rows());
    }
  }

  private static UTF8String text(String text) {
    return UTF8String.fromString(text);
  }

  @Test
  void numbersAndBooleans() throws Exception {
    Map<String, DecodedColumn> read =
        new Trip("b boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f float, d double")
            .add(true, (byte) -7, (short) 300, -70_000, 1L << 40, 1.5f, Math.PI)
            .add(false, Byte.MIN_VALUE, Short.MIN_VALUE, Integer.MAX_VALUE, 0L, 0f, -0.0)
            .read();
    for (int row = 0; row < 2; row++) {
      assertTrue(read.get("b").getBoolean(row));
      assertEquals(-7, read.get("i8").getLong(row));
      assertEquals(300, read.get("i16").getLong(row));
      assertEquals(-70_000, read.get("i32").getLong(row));
      assertEquals(1L << 40, read.get("i64").getLong(row));
      assertEquals(1.5f, read.get("f").getFloat(row));
      assertEquals(Math.PI, read.get("d").getDouble(row));
    }
    assertEquals(-128, read.get("i8").getLong(2));
  }

  @Test
  void nulls() throws Exception {
    Map<String, DecodedColumn> read =
        new Trip("i int, s string, d decimal(5,1), t timestamp, a array<double>, x bigint")
            .add(null, null, null, null, null, 1L)
            .add(
                1,
                text("a"),
                Decimal.apply(new BigDecimal("1.5"), 5, 1),
                7L,
                new GenericArrayData(new double[] {1}),
                null)
            .read();
    for (String name : read.keySet()) {
      boolean first = !name.equals("x");
      assertEquals(first, read.get(name).isNull(0), name);
      assertEquals(first, read.get(name).isNull(1), name);
      assertEquals(!first, read.get(name).isNull(2), name);
      assertEquals(!first, read.get(name).isNull(3), name);
    }
  }

  @Test
  void nullsWhereQuestDbHasNone() throws Exception {
    new Trip("b boolean").refuses(null, "null", "nulls_boolean=zero");
    new Trip("b tinyint", "column_types", "b BYTE").refuses(null, "nulls_byte=zero");
    new Trip("b smallint", "column_types", "b SHORT").refuses(null, "nulls_short=zero");
    new Trip("b string", "column_types", "b CHAR").refuses(null, "nulls_char=zero");
    DecodedColumn zero =
        new Trip("b tinyint", "column_types", "b BYTE", "nulls_byte", "zero")
            .add((Object) null)
            .readOne();
    assertEquals(0, zero.getLong(0));
  }

  @Test
  void sentinels() throws Exception {
    new Trip("i int").refuses(Integer.MIN_VALUE, "-2147483648", "sentinel_values=null");
    new Trip("i bigint").refuses(Long.MIN_VALUE, "sentinel_values=null");
    new Trip("i timestamp").refuses(Long.MIN_VALUE, "null");
    new Trip("i string", "column_types", "i IPV4").refuses(text("0.0.0.0"), "sentinel_values");
    assertTrue(
        new Trip("i int", "sentinel_values", "null").add(Integer.MIN_VALUE).readOne().isNull(1));
    assertTrue(
        new Trip("i string", "sentinel_values", "null", "column_types", "i IPV4")
            .add(text("0.0.0.0"))
            .readOne()
            .isNull(0));
    assertEquals(
        Integer.MIN_VALUE,
        new Trip("i int", "column_types", "i LONG").add(Integer.MIN_VALUE).readOne().getLong(0));
  }

  @Test
  void rangesAreKept() throws Exception {
    new Trip("i int", "column_types", "i BYTE").refuses(128, "128");
    new Trip("i int", "column_types", "i SHORT").refuses(-32769, "-32769");
    new Trip("i bigint", "column_types", "i INT").refuses(1L << 31, "2147483648", "INT");
    new Trip("i bigint", "column_types", "i DOUBLE").refuses((1L << 53) + 1, "DOUBLE");
    new Trip("i bigint", "column_types", "i DOUBLE").refuses(Long.MAX_VALUE, "DOUBLE");
    new Trip("i int", "column_types", "i FLOAT").refuses((1 << 24) + 1, "FLOAT");
    new Trip("i double", "column_types", "i FLOAT").refuses(0.1, "0.1", "FLOAT");
    assertEquals(
        0.5f, new Trip("i double", "column_types", "i FLOAT").add(0.5).readOne().getFloat(1));
  }

  @Test
  void decimals() throws Exception {
    for (String number : new String[] {"12345678.90", "-0.01", "0.00"}) {
      BigDecimal value = new BigDecimal(number);
      DecodedColumn read = new Trip("d decimal(10,2)").add(Decimal.apply(value, 10, 2)).readOne();
      assertEquals(value, read.getDecimal(0));
      assertEquals(value, read.getDecimal(1));
    }
    BigDecimal wide = new BigDecimal("-12345678901234567890.123456789012345678");
    DecodedColumn read = new Trip("d decimal(38,18)").add(Decimal.apply(wide, 38, 18)).readOne();
    assertEquals(wide, read.getDecimal(1));
    assertEquals(
        1.25,
        new Trip("d decimal(10,2)", "decimals_double", "d")
            .add(Decimal.apply(new BigDecimal("1.25"), 10, 2))
            .readOne()
            .getDouble(1));
  }

  @Test
  void texts() throws Exception {
    Trip trip = new Trip("v string, s string", "symbols", "s");
    for (String value : new String[] {"", "a", "é€😀", "x".repeat(5000)}) {
      trip.add(text(value), text(value));
    }
    Map<String, DecodedColumn> read = trip.read();
    assertEquals("é€😀", read.get("v").getText(5));
    assertEquals("é€😀", read.get("s").getText(4));
    assertEquals(5000, read.get("v").getText(7).length());
    assertEquals(4, trip.dictionary.size());
    new Trip("v string").refuses(UTF8String.fromBytes(new byte[] {'a', (byte) 0xC3}), "UTF-8");
  }

  @Test
  void parsedTexts() throws Exception {
    DecodedColumn uuid =
        new Trip("u string", "column_types", "u UUID")
            .add(text("00112233-4455-6677-8899-AABBccddeeff"))
            .readOne();
    assertEquals(0x0011223344556677L, uuid.getUuidHi(1));
    assertEquals(0x8899aabbccddeeffL, uuid.getUuidLo(1));
    for (String bad : new String[] {"", "00112233-4455-6677-8899-aabbccddeef", "g"}) {
      new Trip("u string", "column_types", "u UUID").refuses(text(bad), "UUID");
    }
    DecodedColumn ip =
        new Trip("u string", "column_types", "u IPV4").add(text("192.168.1.255")).readOne();
    assertEquals(0xC0A801FFL, ip.getLong(0) & 0xFFFFFFFFL);
    for (String bad : new String[] {"1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1..2.3", ""}) {
      new Trip("u string", "column_types", "u IPV4").refuses(text(bad), "IPv4");
    }
    DecodedColumn wide =
        new Trip("u string", "column_types", "u LONG256")
            .add(text("0x1" + "0".repeat(16)))
            .readOne();
    assertEquals(0, wide.getLong256(0, 0));
    assertEquals(1, wide.getLong256(0, 1));
    new Trip("u string", "column_types", "u LONG256").refuses(text("12"), "LONG256");
    new Trip("u string", "column_types", "u LONG256").refuses(text("0x" + "1".repeat(65)), "64");
    DecodedColumn hash =
        new Trip("u string", "column_types", "u GEOHASH(2c)").add(text("zB")).readOne();
    assertEquals(31 << 5 | 10, hash.getGeohash(0));
    assertEquals(10, hash.precision());
    assertEquals(
        5,
        new Trip("u string", "column_types", "u GEOHASH(3b)")
            .add(text("101"))
            .readOne()
            .getGeohash(0));
    for (String bad : new String[] {"z", "zbz", "az", "ü"}) {
      new Trip("u string", "column_types", "u GEOHASH(2c)").refuses(text(bad), "geohash");
    }
    for (String one : new String[] {"A", "é", "€"}) {
      assertEquals(
          one.charAt(0),
          new Trip("u string", "column_types", "u CHAR").add(text(one)).readOne().getLong(1));
    }
    for (String bad : new String[] {"", "ab", "😀", "é€"}) {
      new Trip("u string", "column_types", "u CHAR").refuses(text(bad), "CHAR");
    }
  }

  @Test
  void binaries() throws Exception {
    byte[] bytes = ByteBuffer.allocate(32).putLong(4).putLong(3).putLong(2).putLong(1).array();
    assertArrayEquals(bytes, new Trip("b binary").add((Object) bytes).readOne().getBytes(1));
    DecodedColumn wide =
        new Trip("b binary", "column_types", "b LONG256").add((Object) bytes).readOne();
    assertEquals(1, wide.getLong256(0, 0));
    assertEquals(4, wide.getLong256(0, 3));
    DecodedColumn uuid =
        new Trip("b binary", "column_types", "b UUID")
            .add((Object) ByteBuffer.allocate(16).putLong(5).putLong(6).array())
            .readOne();
    assertEquals(5, uuid.getUuidHi(0));
    assertEquals(6, uuid.getUuidLo(0));
    new Trip("b binary", "column_types", "b UUID").refuses(bytes, "32 bytes", "16 bytes");
  }

  @Test
  void timesInUtcWhateverTheSession() throws Exception {
    Map<String, DecodedColumn> read =
        new Trip(
                "d date, t timestamp, n timestamp_ntz, dd date, dt timestamp, tn timestamp",
                "column_types",
                "dd DATE, dt DATE, tn TIMESTAMP_NS")
            .add(-1, 1_234_567L, 1_234_567L, 2, 5_000L, 7L)
            .read();
    assertEquals(-86_400_000_000L, read.get("d").getLong(1));
    assertEquals(1_234_567L, read.get("t").getLong(1));
    assertEquals(1_234_567L, read.get("n").getLong(1));
    assertEquals(172_800_000L, read.get("dd").getLong(1));
    assertEquals(5L, read.get("dt").getLong(1));
    assertEquals(7_000L, read.get("tn").getLong(1));
    new Trip("t timestamp", "column_types", "t DATE").refuses(1L, "milliseconds");
    new Trip("t timestamp", "column_types", "t TIMESTAMP_NS")
        .refuses(Long.MAX_VALUE / 100, "nanoseconds");
  }

  @Test
  void longsAsTimes() throws Exception {
    for (String[] unit :
        new String[][] {{"s", "1"}, {"ms", "1000"}, {"us", "1000000"}, {"ns", "1000000000"}}) {
      Map<String, DecodedColumn> read =
          new Trip(
                  "l bigint, x int",
                  "timestamp",
                  "l",
                  "timestamp_unit",
                  unit[0],
                  "column_types",
                  "l TIMESTAMP")
              .add(Long.parseLong(unit[1]), 1)
              .read();
      assertEquals(1_000_000, read.get("").getLong(1), unit[0]);
    }
    Trip nanos =
        new Trip(
            "l bigint", "timestamp", "l", "timestamp_unit", "ns", "column_types", "l TIMESTAMP");
    nanos.refuses(1L, "microseconds");
    new Trip("l bigint", "timestamp", "l", "timestamp_unit", "s")
        .refuses(Long.MAX_VALUE, "out of range");
  }

  @Test
  void wallClocks() throws Exception {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    TreeSet<String> zones = new TreeSet<>(ZoneId.getAvailableZoneIds());
    for (String zone : zones) {
      Trip trip = new Trip("n timestamp_ntz", "ntz_zone", zone);
      LocalDateTime wall =
          LocalDateTime.ofEpochSecond(
              random.nextLong(-15_000_000_000L, 7_000_000_000L), 123_000, ZoneOffset.UTC);
      long micros = wall.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + 123;
      boolean gap = ZoneId.of(zone).getRules().getValidOffsets(wall).isEmpty();
      if (!gap) {
        Instant instant = wall.atZone(ZoneId.of(zone)).toInstant();
        assertEquals(
            instant.getEpochSecond() * 1_000_000 + 123,
            trip.add(micros).readOne().getLong(0),
            zone + " " + wall + " seed " + seed);
      }
    }
    long inGap = LocalDateTime.parse("2024-03-31T02:30").toEpochSecond(ZoneOffset.UTC) * 1_000_000;
    new Trip("n timestamp_ntz", "ntz_zone", "Europe/Paris").refuses(inGap, "Europe/Paris");
    long twice = LocalDateTime.parse("2024-10-27T02:30").toEpochSecond(ZoneOffset.UTC) * 1_000_000;
    assertEquals(
        twice - 7200L * 1_000_000,
        new Trip("n timestamp_ntz", "ntz_zone", "Europe/Paris").add(twice).readOne().getLong(0));
  }

  @Test
  void arrays() throws Exception {
    GenericArrayData inner = new GenericArrayData(new double[] {1, 2, 3});
    GenericArrayData nested = new GenericArrayData(new Object[] {inner, inner});
    DecodedColumn read = new Trip("a array<array<double>>").add(nested).readOne();
    assertArrayEquals(new int[] {2, 3}, read.getShape(1));
    assertArrayEquals(new double[] {1, 2, 3, 1, 2, 3}, read.getDoubleArray(1));
    DecodedColumn longs =
        new Trip("a array<int>", "column_types", "a LONG[]")
            .add(new GenericArrayData(new int[] {4, 5}))
            .readOne();
    assertArrayEquals(new long[] {4, 5}, longs.getLongArray(1));
    DecodedColumn empty =
        new Trip("a array<float>").add(new GenericArrayData(new float[0])).readOne();
    assertArrayEquals(new int[] {0}, empty.getShape(0));
    GenericArrayData jagged =
        new GenericArrayData(new Object[] {inner, new GenericArrayData(new double[] {1})});
    new Trip("a array<array<double>>").refuses(jagged, "rectangular", "3", "1");
    new Trip("a array<double>").refuses(new GenericArrayData(new Object[] {1.0, null}), "index 1");
    new Trip("a array<bigint>", "column_types", "a DOUBLE[]")
        .refuses(new GenericArrayData(new long[] {Long.MIN_VALUE}), "DOUBLE");
  }

  @Test
  void json() throws Exception {
    InternalRow struct =
        new GenericInternalRow(new Object[] {1, text("a\"b\n"), null, Double.NaN, 0L});
    DecodedColumn read =
        new Trip("s struct<i:int,t:string,n:int,d:double,ts:timestamp>", "unsupported", "json")
            .add(struct)
            .readOne();
    assertEquals(
        "{\"i\":1,\"t\":\"a\\\"b\\n\",\"n\":null,\"d\":\"NaN\",\"ts\":\"1970-01-01T00:00:00Z\"}",
        read.getText(1));
    ArrayBasedMapData map =
        new ArrayBasedMapData(
            new GenericArrayData(new int[] {1, 2}),
            new GenericArrayData(new Object[] {text("x"), null}));
    assertEquals(
        "{\"1\":\"x\",\"2\":null}",
        new Trip("m map<int,string>", "unsupported", "json").add(map).readOne().getText(1));
    assertEquals(
        "[\"a\"]",
        new Trip("m array<string>", "unsupported", "json")
            .add(new GenericArrayData(new Object[] {text("a")}))
            .readOne()
            .getText(1));
  }

  @Test
  void designatedTimestamp() {
    Trip trip = new Trip("x int, ts timestamp", "timestamp", "ts");
    trip.add(1, 0L);
    Errors.of(ErrorCode.VALUE_INVALID, () -> trip.add(1, null), "'ts'", "null");
    Errors.of(ErrorCode.VALUE_INVALID, () -> trip.add(1, -1L), "1969-12-31", "1970");
    assertEquals(2, trip.block.rows());
  }

  /** A bad value in the middle must not shift the columns of later rows. */
  @Test
  void refusedRowsLeaveNoTrace() throws Exception {
    Trip trip = new Trip("a int, s string, b int", "symbols", "s");
    for (int i = 0; i < 50; i++) {
      int n = i;
      trip.add(n, text("s" + n), n % 3 == 0 ? null : (Object) n);
      Errors.of(
          ErrorCode.VALUE_INVALID, () -> trip.add(-n, text("bad" + n), Integer.MIN_VALUE), "'b'");
    }
    Map<String, DecodedColumn> read = trip.read();
    for (int i = 0; i < 100; i++) {
      int n = i / 2;
      assertEquals(n, read.get("a").getLong(i));
      assertEquals("s" + n, read.get("s").getText(i));
      assertEquals(n % 3 == 0, read.get("b").isNull(i));
    }
  }
}
