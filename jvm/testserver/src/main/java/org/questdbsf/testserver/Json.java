package org.questdbsf.testserver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON to and from Map, List, String, Long, Double, Boolean and null. Strict. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Reads one value; {@link IllegalArgumentException} names the position of what is wrong. */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at != text.length()) {
      throw json.wrong("the end");
    }
    return value;
  }

  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map<?, ?> map) {
      String comma = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(comma);
        quote(entry.getKey().toString(), out);
        out.append(": ");
        write(entry.getValue(), out);
        comma = ", ";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      String comma = "[";
      for (Object item : list) {
        out.append(comma);
        write(item, out);
        comma = ", ";
      }
      out.append(list.isEmpty() ? "[]" : "]");
    } else if (value instanceof CharSequence string) {
      quote(string, out);
    } else {
      out.append(value);
    }
  }

  private static void quote(CharSequence string, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private Object value() {
    space();
    char c = at < text.length() ? text.charAt(at) : '\0';
    return switch (c) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true", Boolean.TRUE);
      case 'f' -> word("false", Boolean.FALSE);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    if (next('}')) {
      return map;
    }
    do {
      space();
      if (at >= text.length() || text.charAt(at) != '"') {
        throw wrong("a name");
      }
      String name = string();
      if (!next(':')) {
        throw wrong("':'");
      }
      map.put(name, value());
    } while (next(','));
    if (!next('}')) {
      throw wrong("'}'");
    }
    return map;
  }

  private List<Object> array() {
    List<Object> list = new ArrayList<>();
    at++;
    if (next(']')) {
      return list;
    }
    do {
      list.add(value());
    } while (next(','));
    if (!next(']')) {
      throw wrong("']'");
    }
    return list;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    at++;
    while (at < text.length() && text.charAt(at) != '"') {
      char c = text.charAt(at++);
      out.append(c == '\\' ? escaped() : c);
    }
    if (at >= text.length()) {
      throw wrong("'\"'");
    }
    at++;
    return out.toString();
  }

  private char escaped() {
    char c = at < text.length() ? text.charAt(at++) : '\0';
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        if (at + 4 > text.length()) {
          throw wrong("four hex digits");
        }
        at += 4;
        yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
      }
      default -> throw wrong("an escape");
    };
  }

  private Object number() {
    int from = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String number = text.substring(from, at);
    try {
      if (number.matches("-?\\d+")) {
        return Long.valueOf(number);
      }
      return Double.valueOf(number);
    } catch (NumberFormatException e) {
      at = from;
      throw wrong("a value");
    }
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong("a value");
    }
    at += word.length();
    return value;
  }

  private boolean next(char c) {
    space();
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private IllegalArgumentException wrong(String expected) {
    return new IllegalArgumentException("JSON: expected " + expected + " at position " + at);
  }
}
