package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.qwp.DecodedColumn;

/** Rows of every Spark type, encoded, and read back by the strict decoder. */
class RowEncoderTest {
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
    for (double infinity : new double[] {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
      new Trip("i double").refuses(infinity, infinity + "", "null DOUBLE", "sentinel_values=null");
      new Trip("i float").refuses((float) infinity, infinity + "", "null FLOAT");
      new Trip("i float", "column_types", "i DOUBLE").refuses((float) infinity, "null DOUBLE");
      new Trip("i double", "column_types", "i FLOAT").refuses(infinity, "null FLOAT");
      new Trip("i array<double>", "sentinel_values", "null")
          .refuses(new GenericArrayData(new double[] {1, infinity}), infinity + "");
      new Trip("i array<float>")
          .refuses(new GenericArrayData(new float[] {(float) infinity}), infinity + "");
      assertTrue(new Trip("i double", "sentinel_values", "null").add(infinity).readOne().isNull(1));
      assertTrue(
          new Trip("i double", "sentinel_values", "null", "column_types", "i FLOAT")
              .add(infinity)
              .readOne()
              .isNull(0));
    }
    new Trip("i string", "column_types", "i CHAR").refuses(text("\0"), "U+0000", "sentinel_values");
    assertEquals(
        0,
        new Trip("i string", "column_types", "i CHAR", "sentinel_values", "null")
            .add(text("\0"))
            .readOne()
            .getLong(1));
    new Trip("i array<bigint>", "column_types", "i DOUBLE[]")
        .refuses(new GenericArrayData(new long[] {1, Long.MIN_VALUE}), "-9223372036854775808");
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
    for (double value : new double[] {0.1, 1e300, -1e300, Double.MIN_VALUE, Float.MAX_VALUE * 2d}) {
      new Trip("i double", "column_types", "i FLOAT").refuses(value, value + "", "FLOAT");
    }
    for (long value : new long[] {1000, -1000, Long.MIN_VALUE, Long.MAX_VALUE}) {
      new Trip("i bigint", "column_types", "i DECIMAL(5,2)")
          .refuses(value, value + "", "DECIMAL(5,2)");
    }
    new Trip("i bigint", "column_types", "i DECIMAL64").refuses(Long.MAX_VALUE, "DECIMAL(18,0)");
    assertEquals(
        new BigDecimal(-999),
        new Trip("i int", "column_types", "i DECIMAL(5,2)").add(-999).readOne().getDecimal(1));
    assertEquals(
        new BigDecimal(Long.MIN_VALUE),
        new Trip("i bigint", "column_types", "i DECIMAL(21,2)")
            .add(Long.MIN_VALUE)
            .readOne()
            .getDecimal(1));
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

  /** Rows of objects keep a decimal as it was made, whatever scale the column has. */
  @ParameterizedTest
  @ValueSource(strings = {"decimal(10,2)", "decimal(30,2)"})
  void decimalsOfAnotherScaleThanTheColumns(String type) throws Exception {
    Trip trip = new Trip("d " + type);
    for (String number : new String[] {"7", "1.5", "-2.25", "1E+3"}) {
      trip.encoder.fill(
          new GenericInternalRow(new Object[] {Decimal.apply(new BigDecimal(number))}),
          trip.binding);
      trip.block.endRow();
    }
    DecodedColumn read = trip.readOne();
    assertEquals(new BigDecimal("7.00"), read.getDecimal(0));
    assertEquals(new BigDecimal("1.50"), read.getDecimal(1));
    assertEquals(new BigDecimal("-2.25"), read.getDecimal(2));
    assertEquals(new BigDecimal("1000.00"), read.getDecimal(3));
    InternalRow finer =
        new GenericInternalRow(new Object[] {Decimal.apply(new BigDecimal("1.255"))});
    Errors.of(
        ErrorCode.VALUE_INVALID, () -> trip.encoder.fill(finer, trip.binding), "1.255", "'d'");
  }

  /** Spark lets bytes pass that are not UTF-8; a replacement would make another text of them. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "v string|",
        "v string|symbols=v",
        "v string|column_types=v CHAR",
        "v string|column_types=v UUID",
        "v string|column_types=v IPV4",
        "v string|column_types=v LONG256",
        "v string|column_types=v GEOHASH(1c)",
        "v array<string>|unsupported=json",
        "v map<int,string>|unsupported=json",
        "v map<string,int>|unsupported=json",
        "v struct<a:string>|unsupported=json",
      })
  void textsThatAreNotUtf8AreRefused(String what) {
    String ddl = what.substring(0, what.indexOf('|'));
    String option = what.substring(ddl.length() + 1);
    String[] options = option.isEmpty() ? new String[0] : option.split("=", 2);
    for (String hex :
        new String[] {"c3", "c080", "c19f", "e08080", "eda080", "edbfbf", "ff", "80"}) {
      UTF8String bad = UTF8String.fromBytes(HexFormat.of().parseHex(hex));
      GenericArrayData one = new GenericArrayData(new Object[] {bad});
      GenericArrayData number = new GenericArrayData(new Object[] {1});
      Object value =
          ddl.contains("array")
              ? one
              : ddl.contains("map<int")
                  ? new ArrayBasedMapData(number, one)
                  : ddl.contains("map<string")
                      ? new ArrayBasedMapData(one, number)
                      : ddl.contains("struct") ? new GenericInternalRow(new Object[] {bad}) : bad;
      new Trip(ddl, options).refuses(value);
    }
  }

  @Test
  void aTextThatIsNotUtf8IsKeptAsBytesInADeadLetter() {
    StringBuilder line = new StringBuilder();
    InternalRow row =
        new GenericInternalRow(
            new Object[] {
              UTF8String.fromBytes(new byte[] {'a', (byte) 0xFF}), text("\ufffd"), text("b")
            });
    JsonText.struct(
        line,
        row,
        StructType.fromDDL("bad string, replaced string, good string"),
        JsonText.Invalid.SHOWN);
    assertEquals(
        "{\"bad\":{\"not_utf8_base64\":\"Yf8=\"},\"replaced\":\"\ufffd\",\"good\":\"b\"}",
        line.toString());
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
  void arrays() throws Exception {
    GenericArrayData inner = new GenericArrayData(new double[] {1, 2, 3});
    GenericArrayData nested = new GenericArrayData(new Object[] {inner, inner});
    DecodedColumn read = new Trip("a array<array<double>>").add(nested).readOne();
    assertArrayEquals(new int[] {2, 3}, read.getShape(1));
    assertArrayEquals(new double[] {1, 2, 3, 1, 2, 3}, read.getDoubleArray(1));
    DecodedColumn longs =
        new Trip("a array<int>", "column_types", "a DOUBLE[]")
            .add(new GenericArrayData(new int[] {4, 5}))
            .readOne();
    assertArrayEquals(new double[] {4, 5}, longs.getDoubleArray(1));
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
