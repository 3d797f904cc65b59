package org.questdbsf.spark;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.QwpType;

/**
 * A QuestDB column type as DDL writes it, for example {@code VARCHAR}, {@code GEOHASH(6c)}, {@code
 * DECIMAL(18,3)}, {@code DOUBLE[][]}.
 *
 * @param type the type on the wire
 * @param precision bits of a geohash, digits of a decimal, dimensions of an array, else 0
 * @param scale digits behind the point of a decimal, else 0
 */
record TargetType(QwpType type, int precision, int scale) implements Serializable {
  private static final Pattern FORM =
      Pattern.compile("([A-Z0-9_]+)\\s*(?:\\(([^)]*)\\))?\\s*((?:\\[\\s*\\])*)");

  static TargetType of(QwpType type) {
    return new TargetType(type, 0, 0);
  }

  /**
   * Reads a type.
   *
   * @param where what to say about where it stands, for the message
   * @throws SfException CONFIG_INVALID_VALUE
   */
  static TargetType parse(String text, String where) {
    Matcher m = FORM.matcher(text.strip().toUpperCase(Locale.ROOT));
    if (!m.matches()) {
      throw unknown(text, where);
    }
    String name = m.group(1);
    String argument = m.group(2);
    boolean array = !m.group(3).isEmpty();
    if (array) {
      return array(text, name, dimensions(m.group(3)), where);
    }
    return switch (name) {
      case "GEOHASH" -> geohash(text, argument, where);
      case "DECIMAL" -> decimal(text, argument, where);
      case "STRING" -> of(QwpType.VARCHAR);
      case "TIMESTAMP_NS" -> of(QwpType.TIMESTAMP_NANOS);
      default -> plain(text, name, argument, where);
    };
  }

  private static TargetType array(String text, String element, int dimensions, String where) {
    if (!element.equals("DOUBLE")) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          where
              + ": QuestDB keeps arrays of doubles only, not '"
              + text.strip()
              + "'; write DOUBLE"
              + "[]".repeat(dimensions)
              + ", which takes whole numbers up to 2^53 too.");
    }
    return new TargetType(QwpType.DOUBLE_ARRAY, dimensions, 0);
  }

  private static TargetType plain(String text, String name, String argument, String where) {
    if (argument == null) {
      for (QwpType type : QwpType.values()) {
        if (type.name().equals(name) && !name.endsWith("_ARRAY")) {
          return of(type);
        }
      }
    }
    throw unknown(text, where);
  }

  private static TargetType geohash(String text, String argument, String where) {
    String size = argument == null ? "" : argument.strip();
    int unit = size.endsWith("C") ? 5 : size.endsWith("B") ? 1 : 0;
    int bits = unit == 0 ? 0 : unit * number(size.substring(0, size.length() - 1));
    if (bits < 1 || bits > QwpLimits.MAX_GEOHASH_BITS) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          where
              + ": '"
              + text.strip()
              + "' has no size; write GEOHASH(6c) for characters (1 to 12) or GEOHASH(30b) for bits"
              + " (1 to 60).");
    }
    return new TargetType(QwpType.GEOHASH, bits, 0);
  }

  private static TargetType decimal(String text, String argument, String where) {
    String[] parts = argument == null ? new String[0] : argument.split(",");
    int precision = parts.length == 2 ? number(parts[0]) : 0;
    int scale = parts.length == 2 ? number(parts[1]) : -1;
    if (precision < 1 || precision > 76 || scale < 0 || scale > precision) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          where + ": '" + text.strip() + "' has no digits; write DECIMAL(18,3), at most 76.");
    }
    return new TargetType(decimalFor(precision), precision, scale);
  }

  private static int dimensions(String brackets) {
    return (int) brackets.chars().filter(c -> c == '[').count();
  }

  /** The narrowest decimal of the wire for so many digits. */
  static QwpType decimalFor(int precision) {
    return precision <= 18
        ? QwpType.DECIMAL64
        : precision <= 38 ? QwpType.DECIMAL128 : QwpType.DECIMAL256;
  }

  /** The digits that a decimal of the wire has room for; 0 for other types. */
  static int digits(QwpType type) {
    return switch (type) {
      case DECIMAL64 -> 18;
      case DECIMAL128 -> 38;
      case DECIMAL256 -> 76;
      default -> 0;
    };
  }

  private static int number(String text) {
    String digits = text.strip();
    return digits.matches("\\d{1,4}") ? Integer.parseInt(digits) : -1;
  }

  private static SfException unknown(String text, String where) {
    return new SfException(
        ErrorCode.CONFIG_INVALID_VALUE,
        where
            + ": '"
            + text.strip()
            + "' is not a type of QuestDB; write BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE,"
            + " SYMBOL, VARCHAR, CHAR, TIMESTAMP, TIMESTAMP_NS, DATE, UUID, LONG256, IPV4, BINARY,"
            + " GEOHASH(6c), DECIMAL(18,3) or DOUBLE[].");
  }

  /**
   * Reads the option {@code column_types}: {@code dev UUID, g GEOHASH(6c)}.
   *
   * @return types by column name as written, in order
   */
  static Map<String, TargetType> parseList(String text) {
    Map<String, TargetType> types = new LinkedHashMap<>();
    for (String entry : text.split(",(?![^(]*\\))")) {
      String stripped = entry.strip();
      int gap = columnEnd(stripped);
      if (gap < 0) {
        throw new SfException(
            ErrorCode.CONFIG_INVALID_VALUE,
            "column_types: '"
                + stripped
                + "' is not a column and a type; write for example \"dev UUID, ip IPV4\".");
      }
      String column = unquoted(stripped.substring(0, gap).strip());
      TargetType type = parse(stripped.substring(gap + 1), "column_types, column '" + column + "'");
      if (types.put(column, type) != null) {
        throw new SfException(
            ErrorCode.CONFIG_CONFLICT,
            "column_types names column '" + column + "' twice; keep one.");
      }
    }
    return types;
  }

  private static int columnEnd(String entry) {
    if (entry.startsWith("`") || entry.startsWith("\"")) {
      int close = entry.indexOf(entry.charAt(0), 1);
      return close > 0 && close + 1 < entry.length() ? close + 1 : -1;
    }
    return entry.indexOf(' ');
  }

  private static String unquoted(String name) {
    boolean quoted = name.length() > 2 && (name.startsWith("`") || name.startsWith("\""));
    return quoted ? name.substring(1, name.length() - 1) : name;
  }

  /** As DDL writes it. */
  String ddl() {
    return switch (type) {
      case GEOHASH -> "GEOHASH(" + precision + "b)";
      case DECIMAL64, DECIMAL128, DECIMAL256 -> "DECIMAL(" + precision + "," + scale + ")";
      case DOUBLE_ARRAY -> "DOUBLE" + "[]".repeat(precision);
      case TIMESTAMP_NANOS -> "TIMESTAMP_NS";
      case IPV4 -> "IPv4";
      default -> type.name();
    };
  }
}
