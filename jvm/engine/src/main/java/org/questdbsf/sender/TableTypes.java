package org.questdbsf.sender;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.questdbsf.qwp.QwpType;

/**
 * Wire types and QuestDB's column types: which type a new column gets, and which existing column
 * takes a value unchanged. Only what cannot lose anything fits: a narrow number in a wide column, a
 * text in a symbol, but never nanoseconds in microseconds.
 */
public final class TableTypes {
  private static final Pattern GEOHASH = Pattern.compile("GEOHASH\\((\\d+)([CB])\\)");
  private static final Pattern DECIMAL = Pattern.compile("DECIMAL\\((\\d+),\\s*(\\d+)\\)");
  private static final Map<QwpType, String> TAKERS = new EnumMap<>(QwpType.class);

  static {
    TAKERS.put(QwpType.BOOLEAN, "BOOLEAN");
    TAKERS.put(QwpType.BYTE, "BYTE SHORT INT LONG FLOAT DOUBLE");
    TAKERS.put(QwpType.SHORT, "SHORT INT LONG FLOAT DOUBLE");
    TAKERS.put(QwpType.INT, "INT LONG DOUBLE");
    TAKERS.put(QwpType.LONG, "LONG");
    TAKERS.put(QwpType.FLOAT, "FLOAT DOUBLE");
    TAKERS.put(QwpType.DOUBLE, "DOUBLE");
    TAKERS.put(QwpType.SYMBOL, "SYMBOL VARCHAR STRING");
    TAKERS.put(QwpType.VARCHAR, "VARCHAR STRING SYMBOL");
    TAKERS.put(QwpType.TIMESTAMP, "TIMESTAMP TIMESTAMP_NS");
    TAKERS.put(QwpType.TIMESTAMP_NANOS, "TIMESTAMP_NS");
    TAKERS.put(QwpType.DATE, "DATE TIMESTAMP TIMESTAMP_NS");
    TAKERS.put(QwpType.UUID, "UUID");
    TAKERS.put(QwpType.LONG256, "LONG256");
    TAKERS.put(QwpType.CHAR, "CHAR");
    TAKERS.put(QwpType.BINARY, "BINARY");
    TAKERS.put(QwpType.IPV4, "IPV4");
  }

  private TableTypes() {}

  /** The type that a new column gets, for wire types that say it all. */
  public static String sqlName(QwpType type) {
    return switch (type) {
      case TIMESTAMP_NANOS -> "TIMESTAMP_NS";
      case DOUBLE_ARRAY -> "DOUBLE[]";
      case LONG_ARRAY -> "LONG[]";
      case DECIMAL64 -> "DECIMAL(18,3)";
      case DECIMAL128 -> "DECIMAL(38,10)";
      case DECIMAL256 -> "DECIMAL(76,10)";
      case GEOHASH -> "GEOHASH(12c)";
      default -> type.name();
    };
  }

  /** Whether a column of the table takes what the rows carry, unchanged. */
  static boolean fits(TableSpec.Column column, String tableType) {
    String there = tableType.toUpperCase(Locale.ROOT);
    String carried = column.sqlType().toUpperCase(Locale.ROOT);
    return switch (column.type()) {
      case GEOHASH -> geohashBits(there) > 0 && geohashBits(there) == geohashBits(carried);
      case DECIMAL64, DECIMAL128, DECIMAL256 -> decimalFits(carried, there);
      case DOUBLE_ARRAY -> there.startsWith("DOUBLE[") && sameShape(carried, there);
      case LONG_ARRAY -> there.startsWith("LONG[") && sameShape(carried, there);
      default -> (" " + TAKERS.get(column.type()) + " ").contains(" " + there + " ");
    };
  }

  private static boolean sameShape(String carried, String there) {
    return carried.chars().filter(c -> c == '[').count()
        == there.chars().filter(c -> c == '[').count();
  }

  private static int geohashBits(String type) {
    Matcher m = GEOHASH.matcher(type);
    return m.matches() ? Integer.parseInt(m.group(1)) * (m.group(2).equals("C") ? 5 : 1) : -1;
  }

  private static boolean decimalFits(String carried, String there) {
    Matcher from = DECIMAL.matcher(carried);
    Matcher to = DECIMAL.matcher(there);
    if (!to.matches() || !from.matches()) {
      return to.matches();
    }
    int scaleFrom = Integer.parseInt(from.group(2));
    int scaleTo = Integer.parseInt(to.group(2));
    int wholeFrom = Integer.parseInt(from.group(1)) - scaleFrom;
    int wholeTo = Integer.parseInt(to.group(1)) - scaleTo;
    return scaleTo >= scaleFrom && wholeTo >= wholeFrom;
  }
}
