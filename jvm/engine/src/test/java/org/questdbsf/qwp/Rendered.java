package org.questdbsf.qwp;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

/** Decoded tables as plain objects, in the form of the recorded frames. */
final class Rendered {
  private Rendered() {}

  static Map<String, Object> table(DecodedTable table) {
    List<Object> schema = new ArrayList<>();
    for (DecodedColumn column : table.columns()) {
      schema.add(column.name() + ":" + column.type());
    }
    List<Object> data = new ArrayList<>();
    for (int row = 0; row < table.rows(); row++) {
      Map<String, Object> cells = new LinkedHashMap<>();
      for (DecodedColumn column : table.columns()) {
        cells.put(column.name().isEmpty() ? "<designated>" : column.name(), cell(column, row));
      }
      data.add(cells);
    }
    return Map.of(
        "table", table.name(), "rows", (long) table.rows(), "schema", schema, "data", data);
  }

  /** Null also for NaN, which is what QuestDB makes of it. */
  static Object cell(DecodedColumn column, int row) {
    if (column.isNull(row)) {
      return null;
    }
    return switch (column.type()) {
      case BOOLEAN -> column.getBoolean(row);
      case BYTE, SHORT, INT, LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE, CHAR -> column.getLong(row);
      case FLOAT, DOUBLE -> {
        double value = column.getDouble(row);
        yield Double.isNaN(value) ? null : (Object) value;
      }
      case SYMBOL, VARCHAR -> column.getText(row);
      case BINARY -> "hex:" + HexFormat.of().formatHex(column.getBytes(row));
      case UUID -> new UUID(column.getUuidHi(row), column.getUuidLo(row)).toString();
      case IPV4 -> ipv4(column.getLong(row));
      case LONG256 -> long256(column, row);
      case GEOHASH -> geohash(column.getGeohash(row), column.precision());
      case DECIMAL64, DECIMAL128, DECIMAL256 -> column.getDecimal(row).toPlainString();
      case DOUBLE_ARRAY ->
          array(
              column.getShape(row),
              IntStream.range(0, column.getDoubleArray(row).length)
                  .mapToObj(i -> (Object) column.getDoubleArray(row)[i])
                  .toList());
      case LONG_ARRAY ->
          array(
              column.getShape(row),
              IntStream.range(0, column.getLongArray(row).length)
                  .mapToObj(i -> (Object) column.getLongArray(row)[i])
                  .toList());
    };
  }

  static String ipv4(long address) {
    return (address >> 24)
        + "."
        + (address >> 16 & 255)
        + "."
        + (address >> 8 & 255)
        + "."
        + (address & 255);
  }

  static String geohash(long bits, int precision) {
    String digits = Long.toBinaryString(bits);
    return "0".repeat(precision - Math.min(precision, digits.length())) + digits + "b";
  }

  private static String long256(DecodedColumn column, int row) {
    StringBuilder digits = new StringBuilder();
    for (int limb = 3; limb >= 0; limb--) {
      digits.append(String.format("%016x", column.getLong256(row, limb)));
    }
    return "0x" + digits.toString().replaceFirst("^0+(?=.)", "");
  }

  static Map<String, Object> array(int[] shape, List<Object> elements) {
    return Map.of(
        "shape", IntStream.of(shape).mapToObj(n -> (Object) (long) n).toList(), "data", elements);
  }
}
