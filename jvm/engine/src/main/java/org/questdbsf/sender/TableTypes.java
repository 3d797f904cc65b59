package org.questdbsf.sender;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/**
 * Wire types and QuestDB's column types: which type a new column gets, and which existing column
 * takes a value unchanged.
 *
 * <p>A server converts far more than fits here, often without a word: a LONG in a DOUBLE column
 * loses digits, nanoseconds in a TIMESTAMP column lose three, a text in a CHAR column loses all but
 * its first character. So a pair fits only if every value of the wire type reads back as the same
 * value. A number written out as text does not: it was a number.
 */
public final class TableTypes {
  private static final Pattern GEOHASH = Pattern.compile("GEOHASH\\((\\d+)([CB])\\)");
  private static final Pattern DECIMAL = Pattern.compile("DECIMAL\\((\\d+),\\s*(\\d+)\\)");

  /** Stands for LONG where the values fit every number type, or are refused by the server. */
  private static final String WHOLE_NUMBERS = "whole numbers";

  private TableTypes() {}

  /** The type that a new column gets, for wire types that say it all. */
  public static String sqlName(QwpType type) {
    return switch (type) {
      case TIMESTAMP_NANOS -> "TIMESTAMP_NS";
      case DOUBLE_ARRAY -> "DOUBLE[]";
      case LONG_ARRAY ->
          throw new SfException(
              ErrorCode.TYPE_UNSUPPORTED, "QuestDB has no LONG[]; write DOUBLE[], or texts.");
      case DECIMAL64 -> "DECIMAL(18,3)";
      case DECIMAL128 -> "DECIMAL(38,10)";
      case DECIMAL256 -> "DECIMAL(76,10)";
      case GEOHASH -> "GEOHASH(12c)";
      default -> type.name();
    };
  }

  /** A column of plain rows, with whole numbers told apart that no number type would change. */
  static TableSpec.Column plain(ColumnBuffer column) {
    return column.holdsPlainNumbers()
        ? new TableSpec.Column(column.name(), column.type(), WHOLE_NUMBERS)
        : plain(column.name(), column.type());
  }

  /**
   * A column of plain rows. Digits of decimals, precision of geohashes and dimensions of arrays are
   * those of each frame, and left to the server: it refuses what differs from its column.
   */
  static TableSpec.Column plain(String name, QwpType type) {
    String sqlType =
        switch (type) {
          case DECIMAL64, DECIMAL128, DECIMAL256 -> "DECIMAL";
          case GEOHASH, DOUBLE_ARRAY -> type.name();
          default -> sqlName(type);
        };
    return new TableSpec.Column(name, type, sqlType);
  }

  /**
   * Whether a column of the table takes what the rows carry, unchanged. The whole table: wire types
   * by column types; column types that are not in a row take nothing of its type, although servers
   * let through what the remarks say.
   */
  static boolean fits(TableSpec.Column column, String tableType) {
    String there = tableType.toUpperCase(Locale.ROOT);
    return switch (column.type()) {
      case BOOLEAN -> isOne(there, "BOOLEAN"); // as numbers: 1; as text: true
      // As times: that many units since 1970; INT as IPV4: its bits; all as texts.
      case BYTE ->
          isOne(there, "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE") || whole(there, 3);
      case SHORT -> isOne(there, "SHORT", "INT", "LONG", "FLOAT", "DOUBLE") || whole(there, 5);
      case INT -> isOne(there, "INT", "LONG", "DOUBLE") || whole(there, 10); // as FLOAT: rounded
      case LONG -> longFits(column.sqlType(), there);
      case FLOAT -> isOne(there, "FLOAT", "DOUBLE"); // as integers: NaN is 0; DECIMAL: inf is null
      case DOUBLE -> isOne(there, "DOUBLE"); // as FLOAT: rounded, 1e300 is null
      case SYMBOL -> isOne(there, "SYMBOL", "VARCHAR", "STRING");
      // As CHAR and GEOHASH: cut; as numbers, times, UUID, LONG256: parsed; as BINARY: its bytes.
      case VARCHAR -> isOne(there, "VARCHAR", "STRING", "SYMBOL");
      case CHAR -> isOne(there, "CHAR"); // as texts: a null, which is sent as 0, becomes U+0000
      case BINARY -> isOne(there, "BINARY"); // as numbers, DATE and GEOHASH: parsed as a text
      // As texts: cut to milliseconds. TIMESTAMP_NS ends in 2262: servers refuse what is later.
      case TIMESTAMP -> isOne(there, "TIMESTAMP", "TIMESTAMP_NS");
      case TIMESTAMP_NANOS -> isOne(there, "TIMESTAMP_NS"); // as TIMESTAMP: cut to microseconds
      case DATE -> isOne(there, "DATE"); // as TIMESTAMP: refused
      case UUID -> isOne(there, "UUID");
      case LONG256 -> isOne(there, "LONG256");
      case IPV4 -> isOne(there, "IPV4");
      case GEOHASH -> geohashFits(column.sqlType(), there); // as texts: its bits
      case DECIMAL64, DECIMAL128, DECIMAL256 -> decimalFits(column.sqlType(), there);
      case DOUBLE_ARRAY -> arrayFits(column.sqlType(), there);
      case LONG_ARRAY -> false; // as DOUBLE[]: the bits of the longs read as doubles
    };
  }

  private static boolean isOne(String type, String... types) {
    return List.of(types).contains(type);
  }

  /** Whether it is a decimal with so many digits in front of its point. */
  private static boolean whole(String type, int digits) {
    Matcher m = DECIMAL.matcher(type);
    return m.matches() && Integer.parseInt(m.group(1)) - Integer.parseInt(m.group(2)) >= digits;
  }

  /** As INT, -2^31 is null; as DOUBLE, what is beyond 2^53 is rounded. */
  private static boolean longFits(String carried, String there) {
    return isOne(there, "LONG")
        || whole(there, 19)
        || carried.equals(WHOLE_NUMBERS) && isOne(there, "BYTE", "SHORT", "INT", "DOUBLE");
  }

  private static boolean arrayFits(String carried, String there) {
    return there.startsWith("DOUBLE[")
        && (carried.equals("DOUBLE_ARRAY") || dimensions(carried) == dimensions(there));
  }

  private static long dimensions(String type) {
    return type.chars().filter(c -> c == '[').count();
  }

  private static boolean geohashFits(String carried, String there) {
    int bits = geohashBits(there);
    return bits > 0 && (carried.equals("GEOHASH") || bits == geohashBits(carried));
  }

  private static int geohashBits(String type) {
    Matcher m = GEOHASH.matcher(type.toUpperCase(Locale.ROOT));
    return m.matches() ? Integer.parseInt(m.group(1)) * (m.group(2).equals("C") ? 5 : 1) : -1;
  }

  private static boolean decimalFits(String carried, String there) {
    Matcher to = DECIMAL.matcher(there);
    if (!to.matches() || carried.equals("DECIMAL")) {
      return to.matches();
    }
    Matcher from = DECIMAL.matcher(carried.toUpperCase(Locale.ROOT));
    return from.matches()
        && Integer.parseInt(to.group(2)) >= Integer.parseInt(from.group(2))
        && whole(there, Integer.parseInt(from.group(1)) - Integer.parseInt(from.group(2)));
  }
}
