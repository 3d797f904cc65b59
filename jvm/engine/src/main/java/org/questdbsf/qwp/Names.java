package org.questdbsf.qwp;

import java.util.Arrays;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What QuestDB accepts as a table's or column's name (its {@code TableUtils.isValid*Name}). */
public final class Names {
  private static final String REFUSED = "?,'\"\\/:)(+*%~\u007f\ufeff";

  private Names() {}

  /** The UTF-8 of a good table name. */
  static byte[] table(String name, int maxBytes) {
    String fault = null;
    if (name.startsWith(" ") || name.endsWith(" ")) {
      fault = "begins or ends with a space";
    } else if (name.startsWith(".") || name.endsWith(".") || name.contains("..")) {
      fault = "begins or ends with a dot, or has two in a row";
    }
    return check("table", name, REFUSED, fault, maxBytes);
  }

  /** The UTF-8 of a good column name. */
  static byte[] column(String table, String name, int maxBytes) {
    return check("table '" + table + "': column", name, REFUSED + "-.", null, maxBytes);
  }

  /** Two names are the same column where these are equal. */
  public static String fold(String name) {
    char[] chars = name.toCharArray();
    for (int i = 0; i < chars.length; i++) {
      chars[i] = Character.toLowerCase(chars[i]);
    }
    return new String(chars);
  }

  private static byte[] check(
      String what, String name, String refused, String fault, int maxBytes) {
    if (name.isEmpty()) {
      throw invalid(what, name, "is empty");
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < 0x10 || refused.indexOf(c) >= 0) {
        throw invalid(
            what, name, String.format("has the character U+%04X, which QuestDB refuses", (int) c));
      }
    }
    if (fault != null) {
      throw invalid(what, name, fault);
    }
    byte[] utf8 = new byte[(int) Utf8.maxBytes(name)];
    int end = Utf8.encode(name, utf8, 0);
    if (end < 0) {
      throw invalid(what, name, "has half of a surrogate pair at character " + (-1 - end));
    }
    if (end > maxBytes) {
      throw invalid(what, name, "takes " + end + " bytes of UTF-8, more than " + maxBytes);
    }
    return Arrays.copyOf(utf8, end);
  }

  private static SfException invalid(String what, String name, String fault) {
    return new SfException(
        ErrorCode.NAME_INVALID, what + " name '" + name + "' " + fault + "; rename it");
  }
}
