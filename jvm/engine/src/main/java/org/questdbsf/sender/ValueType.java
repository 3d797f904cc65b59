package org.questdbsf.sender;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The type and range of a connect-string value: checks the text and turns it into a Java value.
 * Also used for the options of the Spark sink, so that both speak of values in the same words.
 */
public final class ValueType {
  /** What a value is read as; the Java type of {@link #parse} in brackets. */
  public enum Kind {
    /** on, off, true, false [Boolean]. */
    BOOL,
    /** A whole number [Integer]. */
    INT,
    /** Milliseconds [Long]. */
    MILLIS,
    /** Bytes, or a number with k, m, g or t, 1024-based [Long]. */
    SIZE,
    /** One of a few words [String, the canonical word]. */
    ENUM,
    /** Words separated by commas [List of String]. */
    LIST,
    /** Any text [String]. */
    STRING,
    /** A path [String]. */
    PATH,
    /** A literal, {@code ${env:NAME}} or {@code ${file:/path}} [SecretRef]. */
    SECRET,
    /** A number, or off for zero [Integer]. */
    INT_OR_OFF,
    /** Bytes, or off for zero [Long]. */
    SIZE_OR_OFF,
    /** Milliseconds, or off for zero [Long]. */
    MILLIS_OR_OFF
  }

  private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:/.*");

  private static final String SIZE_HELP =
      "bytes or a whole number with k, m, g or t (1024-based), for example 64m";

  private final Kind kind;
  private final long min;
  private final long max;
  private final Map<String, String> words;

  private ValueType(Kind kind, long min, long max, Map<String, String> words) {
    this.kind = kind;
    this.min = min;
    this.max = max;
    this.words = words;
  }

  public static ValueType bool() {
    return new ValueType(Kind.BOOL, 0, 0, Map.of());
  }

  public static ValueType ints(int min, int max) {
    return new ValueType(Kind.INT, min, max, Map.of());
  }

  public static ValueType millis(long min) {
    return new ValueType(Kind.MILLIS, min, Integer.MAX_VALUE, Map.of());
  }

  public static ValueType size(long min) {
    return size(min, Long.MAX_VALUE);
  }

  public static ValueType size(long min, long max) {
    return new ValueType(Kind.SIZE, min, max, Map.of());
  }

  /** A number, size or duration that may also be switched off; off is zero. */
  public static ValueType orOff(Kind kind) {
    return new ValueType(kind, 0, Integer.MAX_VALUE, Map.of());
  }

  /** Words, each {@code canonical} or {@code alias=canonical}. */
  public static ValueType words(String... words) {
    Map<String, String> map = new LinkedHashMap<>();
    for (String word : words) {
      int eq = word.indexOf('=');
      map.put(eq < 0 ? word : word.substring(0, eq), word.substring(eq + 1));
    }
    return new ValueType(Kind.ENUM, 0, 0, Collections.unmodifiableMap(map));
  }

  public static ValueType of(Kind kind) {
    return new ValueType(kind, Long.MIN_VALUE, Long.MAX_VALUE, Map.of());
  }

  public Kind kind() {
    return kind;
  }

  /** Smallest value allowed, where the kind is a number. */
  public long min() {
    return min;
  }

  /** Largest value allowed, where the kind is a number. */
  public long max() {
    return max;
  }

  /** Accepted words of an enum, aliases included. */
  public List<String> accepted() {
    return List.copyOf(words.keySet());
  }

  public boolean isSecret() {
    return kind == Kind.SECRET;
  }

  /**
   * Reads a value.
   *
   * @param name the key, for the message
   * @throws SfException CONFIG_INVALID_VALUE: names the key, the value (never a secret) and what is
   *     accepted
   */
  public Object parse(String name, String text) {
    if (text.isEmpty()) {
      throw invalid(name, text, "is empty; give " + describe() + " or leave the key out");
    }
    return switch (kind) {
      case BOOL -> bool(name, text);
      case INT -> (int) number(name, text, Long::parseLong, "a whole number");
      case MILLIS -> number(name, text, Long::parseLong, "a whole number of milliseconds");
      case SIZE -> number(name, text, ValueType::sizeOf, SIZE_HELP);
      case INT_OR_OFF -> isOff(text) ? 0 : (int) number(name, text, Long::parseLong, "a number");
      case SIZE_OR_OFF -> isOff(text) ? 0L : number(name, text, ValueType::sizeOf, SIZE_HELP);
      case MILLIS_OR_OFF ->
          isOff(text) ? 0L : number(name, text, Long::parseLong, "a whole number of milliseconds");
      case ENUM -> word(name, text);
      case LIST -> list(name, text);
      case SECRET -> SecretRef.parse(name, text);
      case STRING -> text;
      case PATH -> path(name, text);
    };
  }

  /** What a value looks like, for messages and docs. */
  public String describe() {
    return switch (kind) {
      case BOOL -> "on or off";
      case INT -> "a whole number" + range();
      case MILLIS -> "milliseconds" + range();
      case SIZE -> SIZE_HELP + range();
      case INT_OR_OFF -> "a whole number or off";
      case SIZE_OR_OFF -> SIZE_HELP + ", or off";
      case MILLIS_OR_OFF -> "milliseconds or off";
      case ENUM -> "one of " + String.join(", ", words.keySet());
      case LIST -> "a comma-separated list";
      case STRING -> "text";
      case PATH -> "a path";
      case SECRET -> "a literal, ${env:NAME} or ${file:/path}";
    };
  }

  private String range() {
    boolean low = min > Integer.MIN_VALUE;
    boolean high = max < (kind == Kind.SIZE ? Long.MAX_VALUE : Integer.MAX_VALUE);
    if (low && high) {
      return " from " + min + " to " + max;
    }
    return low ? ", at least " + min : high ? ", at most " + max : "";
  }

  /** The files are read and written by this process itself: a URL would name a directory "s3:". */
  private static String path(String name, String text) {
    if (URL.matcher(text).matches()) {
      throw invalid(name, text, "is a URL; give a path on a local disk, such as /data/sf");
    }
    return text;
  }

  private static boolean isOff(String text) {
    return text.equals("off");
  }

  private static Boolean bool(String name, String text) {
    return switch (text) {
      case "on", "true" -> Boolean.TRUE;
      case "off", "false" -> Boolean.FALSE;
      default -> throw invalid(name, text, "is not a switch; give on or off");
    };
  }

  private String word(String name, String text) {
    String canonical = words.get(text);
    if (canonical == null) {
      throw invalid(name, text, "is not known; give " + describe());
    }
    return canonical;
  }

  private static List<String> list(String name, String text) {
    String[] parts = text.split(",", -1);
    for (int i = 0; i < parts.length; i++) {
      parts[i] = parts[i].strip();
      if (parts[i].isEmpty()) {
        throw invalid(name, text, "has an empty entry at position " + (i + 1) + "; remove it");
      }
    }
    return List.of(parts);
  }

  private long number(String name, String text, Function<String, Long> reader, String what) {
    long value;
    try {
      value = reader.apply(text);
    } catch (NumberFormatException e) {
      throw invalid(name, text, "is not valid; give " + what);
    }
    if (value < min || value > max) {
      throw invalid(name, text, "is out of range; give " + describe());
    }
    return value;
  }

  private static Long sizeOf(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    int end = lower.length();
    if (end > 1 && lower.charAt(end - 1) == 'b') {
      end--;
    }
    int shift = end == 0 ? -1 : "kmgt".indexOf(lower.charAt(end - 1));
    if (shift < 0) {
      return Long.parseLong(text);
    }
    long count = Long.parseLong(lower.substring(0, end - 1));
    int bits = 10 * (shift + 1);
    if (count < 0 || count > Long.MAX_VALUE >> bits) {
      throw new NumberFormatException("size overflows");
    }
    return count << bits;
  }

  private static SfException invalid(String name, String text, String what) {
    String shown = text.isEmpty() ? name : name + "=" + text;
    return new SfException(ErrorCode.CONFIG_INVALID_VALUE, shown + " " + what + ".");
  }
}
