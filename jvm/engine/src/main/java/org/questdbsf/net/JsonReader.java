package org.questdbsf.net;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON text (RFC 8259) into Map (in order), List, String, Long (a whole number that
 * fits), Double (any other number), Boolean and null. Strict: no trailing text, no duplicate names,
 * no comments, no lone surrogates, no deeper than 64. Our own, because no JSON library may come
 * onto a cluster's class path.
 */
final class JsonReader {

  /** Text that is not JSON; the message names the place. */
  static final class MalformedJsonException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedJsonException(String message) {
      super(message);
    }
  }

  private static final int MAX_DEPTH = 64;

  private final String text;
  private int at;
  private int depth;

  private JsonReader(String text) {
    this.text = text;
  }

  static Object read(String text) throws MalformedJsonException {
    JsonReader reader = new JsonReader(text);
    reader.skipSpace();
    Object value = reader.readValue();
    reader.skipSpace();
    if (reader.at < text.length()) {
      throw reader.malformed("text behind the value");
    }
    return value;
  }

  private Object readValue() throws MalformedJsonException {
    switch (peek()) {
      case '{':
        return readObject();
      case '[':
        return readArray();
      case '"':
        return readString();
      case 't':
        return readWord("true", Boolean.TRUE);
      case 'f':
        return readWord("false", Boolean.FALSE);
      case 'n':
        return readWord("null", null);
      default:
        return readNumber();
    }
  }

  private Map<String, Object> readObject() throws MalformedJsonException {
    enter();
    Map<String, Object> object = new LinkedHashMap<>();
    boolean more = !closes('}');
    while (more) {
      if (peek() != '"') {
        throw malformed("a name expected");
      }
      int nameAt = at;
      String name = readString();
      skipSpace();
      expect(':');
      skipSpace();
      if (object.containsKey(name)) {
        at = nameAt;
        throw malformed("the name " + name + " again");
      }
      object.put(name, readValue());
      more = continues('}');
    }
    depth--;
    return object;
  }

  private List<Object> readArray() throws MalformedJsonException {
    enter();
    List<Object> array = new ArrayList<>();
    boolean more = !closes(']');
    while (more) {
      array.add(readValue());
      more = continues(']');
    }
    depth--;
    return array;
  }

  private void enter() throws MalformedJsonException {
    if (++depth > MAX_DEPTH) {
      throw malformed("nested deeper than " + MAX_DEPTH);
    }
    at++;
    skipSpace();
  }

  private boolean closes(char end) throws MalformedJsonException {
    if (peek() == end) {
      at++;
      return true;
    }
    return false;
  }

  /** After an element: true behind a comma, false behind the end. */
  private boolean continues(char end) throws MalformedJsonException {
    skipSpace();
    if (closes(end)) {
      return false;
    }
    expect(',');
    skipSpace();
    return true;
  }

  private String readString() throws MalformedJsonException {
    int start = at;
    expect('"');
    StringBuilder s = new StringBuilder();
    for (; ; ) {
      char c = next();
      if (c == '"') {
        break;
      } else if (c == '\\') {
        s.append(readEscape());
      } else if (c < ' ') {
        at--;
        throw malformed("a control character in a string");
      } else {
        s.append(c);
      }
    }
    String value = s.toString();
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      boolean pair =
          Character.isHighSurrogate(c)
              && i + 1 < value.length()
              && Character.isLowSurrogate(value.charAt(i + 1));
      if (Character.isSurrogate(c) && !pair) {
        at = start;
        throw malformed("a lone surrogate in a string");
      }
      i += pair ? 1 : 0;
    }
    return value;
  }

  private char readEscape() throws MalformedJsonException {
    char c = next();
    switch (c) {
      case '"':
      case '\\':
      case '/':
        return c;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        int unit = 0;
        for (int i = 0; i < 4; i++) {
          char digit = next();
          int value = digit < 128 ? Character.digit(digit, 16) : -1;
          if (value < 0) {
            at--;
            throw malformed("four hexadecimal digits expected");
          }
          unit = unit << 4 | value;
        }
        return (char) unit;
      default:
        at--;
        throw malformed("an unknown escape");
    }
  }

  private Object readNumber() throws MalformedJsonException {
    int start = at;
    skip('-');
    if (!skip('0')) {
      skipDigits();
    }
    boolean whole = true;
    if (skip('.')) {
      whole = false;
      skipDigits();
    }
    if (skip('e') || skip('E')) {
      whole = false;
      if (!skip('+')) {
        skip('-');
      }
      skipDigits();
    }
    String number = text.substring(start, at);
    if (whole) {
      try {
        return Long.valueOf(number);
      } catch (NumberFormatException e) {
        return Double.valueOf(number); // well-formed, but too large for a long
      }
    }
    return Double.valueOf(number);
  }

  private void skipDigits() throws MalformedJsonException {
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == start) {
      throw malformed("a digit or a value expected");
    }
  }

  private Object readWord(String word, Object value) throws MalformedJsonException {
    if (!text.startsWith(word, at)) {
      throw malformed("a value expected");
    }
    at += word.length();
    return value;
  }

  private boolean skip(char c) {
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) throws MalformedJsonException {
    if (peek() != c) {
      throw malformed("'" + c + "' expected");
    }
    at++;
  }

  private char next() throws MalformedJsonException {
    char c = peek();
    at++;
    return c;
  }

  private char peek() throws MalformedJsonException {
    if (at >= text.length()) {
      throw malformed("the text ends too early");
    }
    return text.charAt(at);
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private MalformedJsonException malformed(String what) {
    return new MalformedJsonException(what + " at character " + at);
  }
}
