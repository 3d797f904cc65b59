package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * As much JSON as the recorded frames need: maps, lists, strings, booleans, null, whole numbers as
 * Long, others as Double, and the literals NaN and Infinity that Python writes.
 */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.blanks();
    if (json.at != text.length()) {
      throw json.fault();
    }
    return value;
  }

  private IllegalArgumentException fault() {
    return new IllegalArgumentException("not JSON at character " + at);
  }

  private void blanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private boolean skip(String token) {
    blanks();
    boolean found = text.startsWith(token, at);
    at += found ? token.length() : 0;
    return found;
  }

  private void expect(String token) {
    if (!skip(token)) {
      throw fault();
    }
  }

  private Object value() {
    blanks();
    if (skip("{")) {
      return object();
    }
    if (skip("[")) {
      return list();
    }
    if (text.charAt(at) == '"') {
      return string();
    }
    if (skip("null")) {
      return null;
    }
    if (skip("true")) {
      return true;
    }
    if (skip("false")) {
      return false;
    }
    if (skip("NaN")) {
      return Double.NaN;
    }
    if (skip("Infinity")) {
      return Double.POSITIVE_INFINITY;
    }
    if (skip("-Infinity")) {
      return Double.NEGATIVE_INFINITY;
    }
    return number();
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    if (skip("}")) {
      return map;
    }
    do {
      blanks();
      String key = string();
      expect(":");
      map.put(key, value());
    } while (skip(","));
    expect("}");
    return map;
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    if (skip("]")) {
      return list;
    }
    do {
      list.add(value());
    } while (skip(","));
    expect("]");
    return list;
  }

  private String string() {
    expect("\"");
    StringBuilder out = new StringBuilder();
    while (text.charAt(at) != '"') {
      char c = text.charAt(at++);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escape = text.charAt(at++);
      if (escape == 'u') {
        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
        at += 4;
      } else {
        int i = "\"\\/bfnrt".indexOf(escape);
        out.append("\"\\/\b\f\n\r\t".charAt(i));
      }
    }
    at++;
    return out.toString();
  }

  private Object number() {
    int from = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    if (from == at) {
      throw fault();
    }
    String digits = text.substring(from, at);
    return digits.matches("-?\\d+")
        ? new BigDecimal(digits).longValueExact()
        : (Object) Double.valueOf(digits);
  }
}
