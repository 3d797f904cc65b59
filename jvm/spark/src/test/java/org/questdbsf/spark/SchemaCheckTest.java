package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.TableFacts;
import org.questdbsf.sender.TtlFloor;

class SchemaCheckTest {
  private static final String ALL =
      "bool boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f32 float, f64 double,"
          + " dec decimal(10,2), big decimal(38,18), str string, bin binary, d date,"
          + " t timestamp, n timestamp_ntz, ad array<double>, af array<array<float>>,"
          + " ts timestamp";

  private static RowPlan plan(String schema, TableFacts live, String... options) {
    Map<String, String> map = new HashMap<>(Map.of("addr", "h:1", "table", "t"));
    for (int i = 0; i < options.length; i += 2) {
      map.put(options[i], options[i + 1]);
    }
    if (map.containsKey("table_column")) {
      map.remove("table");
    }
    return SchemaCheck.plan(SfOptions.of(map), StructType.fromDDL(schema), live);
  }

  private static void refused(ErrorCode code, String schema, String[] options, String... words) {
    Errors.of(code, () -> plan(schema, null, options), words);
  }

  private static String[] set(String... options) {
    return options;
  }

  private static TableFacts live(String... columns) {
    Map<String, String> types = new LinkedHashMap<>();
    for (int i = 0; i < columns.length; i += 2) {
      types.put(columns[i], columns[i + 1]);
    }
    return new TableFacts("t", types, Optional.of("ts"), List.of(), true, new TtlFloor());
  }

  @Test
  void defaults() {
    assertEquals(
        "bool BOOLEAN, i8 INT, i16 INT, i32 INT, i64 LONG, f32 FLOAT, f64 DOUBLE,"
            + " dec DECIMAL(10,2), big DECIMAL(38,18), str VARCHAR, bin BINARY, d TIMESTAMP,"
            + " t TIMESTAMP, n TIMESTAMP, ad DOUBLE[], af DOUBLE[][], ts TIMESTAMP (designated)",
        plan(ALL, null, "timestamp", "ts").describe());
    assertNull(plan("a int", null, "server_timestamp", "on").designated());
    assertEquals(
        QwpType.TIMESTAMP_NANOS,
        plan("a int, l bigint", null, "timestamp", "l", "timestamp_unit", "ns")
            .designated()
            .target()
            .type());
  }

  @Test
  void optionThenMetadataThenLiveThenDefault() {
    StructType schema =
        new StructType(
            new StructField[] {
              withType("a", "SYMBOL"), withType("b", "SYMBOL"), field("c"), field("d")
            });
    SfOptions options = SfOptions.of(Map.of("addr", "h:1", "table", "t", "column_types", "a UUID"));
    RowPlan plan =
        SchemaCheck.plan(
            options, schema, live("a", "IPv4", "B", "VARCHAR", "C", "LONG256", "ts", "TIMESTAMP"));
    assertEquals("a UUID, b SYMBOL, c LONG256, d VARCHAR", plan.describe());
  }

  private static StructField field(String name) {
    return DataTypes.createStructField(name, DataTypes.StringType, true);
  }

  private static StructField withType(String name, String type) {
    return DataTypes.createStructField(
        name,
        DataTypes.StringType,
        true,
        new MetadataBuilder().putString(SchemaCheck.TYPE_METADATA, type).build());
  }

  @Test
  void theLiveTableDecides() {
    RowPlan plan =
        plan(
            "a smallint, b int, c date, d string, e decimal(10,2), n timestamp, ts timestamp",
            live(
                "a",
                "SHORT",
                "b",
                "LONG",
                "c",
                "DATE",
                "d",
                "SYMBOL",
                "e",
                "DECIMAL(20,4)",
                "n",
                "TIMESTAMP_NS",
                "ts",
                "TIMESTAMP_NS"),
            "timestamp",
            "ts");
    assertEquals(
        "a SHORT, b LONG, c DATE, d SYMBOL, e DECIMAL(20,4), n TIMESTAMP_NS,"
            + " ts TIMESTAMP_NS (designated)",
        plan.describe());
    Errors.of(
        ErrorCode.TABLE_MISMATCH, () -> plan("a string", live("a", "INT")), "'a'", "INT", "STRING");
    Errors.of(
        ErrorCode.TYPE_UNSUPPORTED,
        () -> plan("a decimal(10,4)", live("a", "DECIMAL(10,2)")),
        "'a'",
        "DECIMAL(10,2)");
  }

  /** A wrong guess of their unit would still look like a time, so they are named at the start. */
  @Test
  void longsThatBecomeTimesAreKnown() {
    assertEquals(List.of("l"), plan("l bigint, i bigint", null, "timestamp", "l").numbersAsTimes());
    for (String type : List.of("TIMESTAMP", "TIMESTAMP_NS", "DATE")) {
      assertEquals(List.of("l"), plan("l bigint", live("L", type)).numbersAsTimes());
    }
    assertEquals(List.of(), plan("l bigint", live("l", "LONG")).numbersAsTimes());
    assertEquals(List.of(), plan("t timestamp, d date", null, "timestamp", "t").numbersAsTimes());
  }

  /** The times would silently go to another column than the one that is named. */
  @Test
  void aTimestampThatIsAnOrdinaryColumnOfTheTableIsRefused() {
    TableFacts live = live("time", "TIMESTAMP", "ts", "TIMESTAMP");
    Errors.of(
        ErrorCode.TABLE_MISMATCH,
        () -> plan("a int, TIME timestamp", live, "timestamp", "time"),
        "'TIME'",
        "ordinary column",
        "designated timestamp is 'ts'");
    assertEquals(
        "a INT, at TIMESTAMP (designated)",
        plan("a int, at timestamp", live, "timestamp", "at").describe());
    assertEquals(
        "time TIMESTAMP, ts TIMESTAMP (designated)",
        plan("time timestamp, ts timestamp", live, "timestamp", "TS").describe());
  }

  @Test
  void columnsThatOptionsNameMustBeThere() {
    refused(
        ErrorCode.CONFIG_INVALID_VALUE,
        "a int, time timestamp",
        set("timestamp", "tiem"),
        "timestamp",
        "'tiem'",
        "'time'",
        "a, time");
    refused(ErrorCode.CONFIG_INVALID_VALUE, "a int", set("symbols", "b"), "symbols", "'b'");
    refused(ErrorCode.CONFIG_INVALID_VALUE, "a int", set("column_types", "b UUID"), "column_types");
    refused(
        ErrorCode.CONFIG_INVALID_VALUE, "a int", set("decimals_double", "b"), "decimals_double");
    refused(ErrorCode.CONFIG_INVALID_VALUE, "a int", set("table_column", "b"), "table_column");
    assertEquals(1, plan("A int, TS timestamp", null, "timestamp", "ts").designated().ordinal());
  }

  @Test
  void typesThatDoNotGo() {
    refused(
        ErrorCode.TYPE_UNSUPPORTED, "a struct<x:int>", set(), "'a'", "STRUCT", "unsupported=json");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a map<string,int>", set(), "'a'", "MAP");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a array<bigint>", set(), "[DOUBLE[]]", "column_types");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a interval year", set(), "'a'", "INTERVAL");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a int", set("symbols", "a"), "'a'", "string");
    refused(
        ErrorCode.TYPE_UNSUPPORTED, "a int", set("column_types", "a UUID"), "'a'", "UUID", "INT");
    refused(
        ErrorCode.TYPE_UNSUPPORTED,
        "a decimal(5,1)",
        set("column_types", "a DOUBLE"),
        "decimals_double");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a string", set("timestamp", "a"), "'a'", "timestamp");
    refused(ErrorCode.TYPE_UNSUPPORTED, "a int, b int", set("table_column", "b"), "'b'");
    refused(
        ErrorCode.TYPE_UNSUPPORTED,
        "a array<array<double>>",
        set("column_types", "a DOUBLE[]"),
        "dimensions");
    refused(
        ErrorCode.CONFIG_CONFLICT,
        "a string, t timestamp",
        set("timestamp", "t", "symbols", "t"),
        "symbols");
    refused(
        ErrorCode.CONFIG_CONFLICT,
        "a string",
        set("symbols", "a", "column_types", "a VARCHAR"),
        "symbols");
  }

  @Test
  void unsupportedTypesByOption() {
    String schema = "a struct<x:int>, b map<string,int>, c array<string>, i int";
    assertEquals("i INT", plan(schema, null, "unsupported", "skip").describe());
    assertEquals(
        "a VARCHAR, b VARCHAR, c VARCHAR, i INT",
        plan(schema, null, "unsupported", "json").describe());
    refused(
        ErrorCode.TYPE_UNSUPPORTED,
        "a struct<x:array<map<string,struct<y:interval>>>>",
        set("unsupported", "json"),
        "'a'",
        "INTERVAL",
        "no JSON form");
    assertEquals("i INT", plan("v void, i int", null).describe());
    refused(ErrorCode.TABLE_MISMATCH, "v void", set(), "no column");
  }

  @Test
  void columnTypesAreRead() {
    assertEquals(
        "dev UUID, ip IPv4, h LONG256, g GEOHASH(30b), g2 GEOHASH(7b), d DECIMAL(20,4),"
            + " l DOUBLE[], s VARCHAR",
        plan(
                "dev string, ip string, h string, g string, g2 string, d decimal(10,2),"
                    + " l array<int>, s string",
                null,
                "column_types",
                "dev uuid, ip IPV4, h LONG256, g GEOHASH(6c), g2 geohash(7b), d DECIMAL(20, 4),"
                    + " l DOUBLE[], s STRING")
            .describe());
    for (String bad :
        List.of(
            "a",
            "a NUMBER",
            "a GEOHASH",
            "a GEOHASH(13c)",
            "a DECIMAL(5)",
            "a INT[]",
            "a LONG[][]")) {
      refused(ErrorCode.CONFIG_INVALID_VALUE, "a string", set("column_types", bad), "column_types");
    }
    refused(ErrorCode.CONFIG_CONFLICT, "a string", set("column_types", "a UUID, a IPV4"), "twice");
    // A server reads the bits of longs as doubles.
    refused(
        ErrorCode.CONFIG_INVALID_VALUE,
        "a array<array<bigint>>",
        set("column_types", "a LONG[][]"),
        "LONG[][]",
        "write DOUBLE[][]");
  }

  @Test
  void namesAndLimits() {
    refused(ErrorCode.NAME_INVALID, "`" + "é".repeat(64) + "` int", set(), "127");
    plan("`" + "x".repeat(127) + "` int", null);
    refused(ErrorCode.NAME_INVALID, "`a.b` int", set(), "a.b");
    refused(ErrorCode.NAME_INVALID, "a int", set("table", "x".repeat(128)), "127");
    refused(ErrorCode.NAME_INVALID, "a int, A int", set(), "'a'", "'A'");
    // As QuestDB folds names, character by character: text folds the second to two characters.
    refused(ErrorCode.NAME_INVALID, "id int, `\u0130D` int", set(), "'id'", "'\u0130D'");
    StringBuilder wide = new StringBuilder("c0 int");
    for (int i = 1; i <= 2048; i++) {
      wide.append(", c").append(i).append(" int");
    }
    refused(ErrorCode.LIMIT_EXCEEDED, wide.toString(), set(), "2049", "2048");
  }
}
