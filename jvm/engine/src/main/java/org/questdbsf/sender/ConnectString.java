package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grammar of connect strings: {@code ws::key=value;key=value;} or {@code wss::…}, {@code ;;} for a
 * semicolon in a value, the last semicolon optional, keys in lower case, control characters refused
 * (client spec section 4). Values are taken as text here; {@link SenderConfig} gives them types.
 */
public final class ConnectString {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectString.class);
  private static final String FORM = "write ws::addr=HOST:PORT;key=value; or wss::… for TLS";

  private final Map<ConnectKey, String> values = new EnumMap<>(ConnectKey.class);
  private final Map<String, String> extras = new LinkedHashMap<>();
  private final List<String> ignored = new ArrayList<>();

  private ConnectString() {}

  /**
   * Reads a connect string.
   *
   * @return the keys that it sets; {@code tls} is always among them, from the scheme
   * @throws SfException CONFIG_UNKNOWN_KEY, CONFIG_INVALID_VALUE or CONFIG_CONFLICT
   */
  public static Map<ConnectKey, String> parse(String text) {
    return of(text, Set.of()).values();
  }

  /**
   * Reads a connect string that may hold further keys, such as the options of a sink.
   *
   * @param extraKeys names that are no {@link ConnectKey} and are handed on as they are
   */
  public static ConnectString of(String text, Set<String> extraKeys) {
    ConnectString result = new ConnectString();
    int scheme = text.indexOf("::");
    if (scheme < 0) {
      throw malformed("the connect string has no scheme; " + FORM);
    }
    String name = text.substring(0, scheme);
    if (!name.equals("ws") && !name.equals("wss")) {
      throw malformed(
          "scheme "
              + printable(name)
              + " of the connect string is not supported, only ws and wss are; "
              + FORM);
    }
    result.readPairs(text, scheme + 2, extraKeys);
    result.addTls(name.equals("wss"));
    for (String key : result.ignored) {
      LOG.warn("Connect-string key {} has no effect in this client and is ignored.", key);
    }
    return result;
  }

  /** The keys that are set, by their canonical name. */
  public Map<ConnectKey, String> values() {
    return Collections.unmodifiableMap(values);
  }

  /** The further keys that were asked for, as written. */
  public Map<String, String> extras() {
    return Collections.unmodifiableMap(extras);
  }

  /** Keys that were accepted without effect; each was warned about once. */
  public List<String> ignored() {
    return List.copyOf(ignored);
  }

  /**
   * Writes a connect string, secrets included, that {@link #parse} reads back to the same values.
   */
  public static String format(Map<ConnectKey, String> values) {
    return write(values, false);
  }

  /** Writes a connect string in which literal secrets are {@code ***}, for people. */
  public static String redacted(Map<ConnectKey, String> values) {
    return write(values, true);
  }

  private static String write(Map<ConnectKey, String> values, boolean redact) {
    boolean tls =
        "on".equals(values.get(ConnectKey.TLS)) || "true".equals(values.get(ConnectKey.TLS));
    StringBuilder out = new StringBuilder(tls ? "wss::" : "ws::");
    values.forEach(
        (key, value) -> {
          if (key != ConnectKey.TLS) {
            String shown = redact ? shown(key, value) : value;
            out.append(key.key()).append('=').append(shown.replace(";", ";;")).append(';');
          }
        });
    return out.toString();
  }

  /** A value as it may be shown to people: a literal secret is {@code ***}. */
  static String shown(ConnectKey key, String value) {
    boolean reference = value.startsWith("${env:") || value.startsWith("${file:");
    return key.isSecret() && !reference ? "***" : value;
  }

  private void readPairs(String text, int start, Set<String> extraKeys) {
    int at = start;
    ConnectKey before = null;
    while (at < text.length()) {
      int eq = text.indexOf('=', at);
      int stop = text.indexOf(';', at);
      if (eq < 0 || (stop >= 0 && stop < eq)) {
        throw malformed(
            "the connect string has no '=' after the key at position " + at + "; " + FORM);
      }
      String key = text.substring(at, eq);
      if (before != null && before.isSecret() && !isKnown(key, extraKeys)) {
        throw afterSecret(before, key, at, extraKeys);
      }
      checkKey(key, at);
      StringBuilder value = new StringBuilder();
      at = readValue(text, eq + 1, key, value);
      accept(key, value.toString(), extraKeys);
      before = ConnectKey.named(key).orElse(null);
    }
  }

  private static boolean isKnown(String key, Set<String> extraKeys) {
    return ConnectKey.named(key).isPresent()
        || extraKeys.contains(key)
        || RetiredKeys.isIgnored(key)
        || RetiredKeys.successor(key).isPresent();
  }

  /** What follows a secret may be the rest of it, cut by a semicolon: it is not shown. */
  private static SfException afterSecret(
      ConnectKey secret, String key, int at, Set<String> extraKeys) {
    return new SfException(
        ErrorCode.CONFIG_UNKNOWN_KEY,
        "what follows "
            + secret.key()
            + " at position "
            + at
            + " is not a known key"
            + nearest(key, extraKeys)
            + "; if it is part of the value, write ;; for each semicolon in it.");
  }

  private static int readValue(String text, int start, String key, StringBuilder value) {
    int at = start;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == ';') {
        if (at + 1 >= text.length() || text.charAt(at + 1) != ';') {
          return at + 1;
        }
        at++;
      } else if (Character.isISOControl(c)) {
        throw malformed(
            String.format(
                "the value of %s has a control character (U+%04X) at position %d; remove it",
                key, (int) c, at));
      }
      value.append(c);
      at++;
    }
    return at;
  }

  private static void checkKey(String key, int at) {
    if (key.isEmpty()) {
      throw malformed("the connect string has an empty key at position " + at + "; " + FORM);
    }
    for (int i = 0; i < key.length(); i++) {
      char c = key.charAt(i);
      if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') {
        throw malformed(
            "key "
                + printable(key)
                + " at position "
                + at
                + " has other characters than lower-case letters, digits and _; "
                + (key.contains(";") ? "write ;; for a semicolon in a value" : "correct it"));
      }
    }
  }

  private void accept(String name, String value, Set<String> extraKeys) {
    ConnectKey key = ConnectKey.named(name).orElse(null);
    if (key == null) {
      acceptOther(name, value, extraKeys);
    } else if (value.isEmpty()) {
      key.type().parse(name, value);
    } else if (key == ConnectKey.ADDR && values.containsKey(key)) {
      values.merge(key, value, (first, next) -> first + "," + next);
    } else if (values.putIfAbsent(key, value) != null) {
      throw new SfException(
          ErrorCode.CONFIG_CONFLICT,
          key.key()
              + (key.key().equals(name) ? "" : " (here as " + name + ")")
              + " is set twice in the connect string; keep one.");
    }
  }

  private void acceptOther(String name, String value, Set<String> extraKeys) {
    if (extraKeys.contains(name)) {
      if (extras.putIfAbsent(name, value) != null) {
        throw new SfException(
            ErrorCode.CONFIG_CONFLICT, name + " is set twice in the connect string; keep one.");
      }
    } else if (RetiredKeys.isIgnored(name)) {
      if (!ignored.contains(name)) {
        ignored.add(name);
      }
    } else {
      throw unknown(name, extraKeys);
    }
  }

  /** The error for a key that does not exist: what it was replaced by, or the nearest name. */
  public static SfException unknown(String name, Set<String> extraKeys) {
    String advice =
        RetiredKeys.successor(name)
            .map(text -> " is not a key of this client; " + text + ".")
            .orElseGet(() -> " is not a known key" + nearest(name, extraKeys) + ".");
    return new SfException(ErrorCode.CONFIG_UNKNOWN_KEY, printable(name) + advice);
  }

  private static String nearest(String name, Set<String> extraKeys) {
    List<String> names = new ArrayList<>(extraKeys);
    for (ConnectKey key : ConnectKey.values()) {
      names.add(key.key());
      names.addAll(key.aliases());
    }
    return EditDistance.nearest(name, names)
        .map(near -> "; did you mean " + near)
        .orElse("; docs/options.md lists the keys");
  }

  private void addTls(boolean tls) {
    String said = values.get(ConnectKey.TLS);
    if (said != null) {
      boolean on = (Boolean) ConnectKey.TLS.type().parse("tls", said);
      if (on != tls) {
        throw new SfException(
            ErrorCode.CONFIG_CONFLICT,
            "tls=" + said + " contradicts the scheme " + (tls ? "wss" : "ws") + "; drop the key.");
      }
    }
    values.put(ConnectKey.TLS, tls ? "on" : "off");
  }

  private static String printable(String text) {
    String cut = text.length() > 60 ? text.substring(0, 60) + "…" : text;
    return "'" + cut.replaceAll("\\p{Cntrl}", "?") + "'";
  }

  private static SfException malformed(String message) {
    return new SfException(ErrorCode.CONFIG_INVALID_VALUE, message + ".");
  }
}
