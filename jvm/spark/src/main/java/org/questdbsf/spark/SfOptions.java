package org.questdbsf.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.ConnectString;
import org.questdbsf.sender.SecretRef;
import org.questdbsf.sender.ValueType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of one query, read and checked one by one; what they must satisfy together is in
 * {@link OptionRules}. Immutable; travels to the executors. {@link #toString} shows no secret.
 * Secrets by reference stay references until a connection is made.
 */
final class SfOptions implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(SfOptions.class);

  /** What Spark itself puts among the options of a sink, in lower case. */
  private static final Set<String> SPARK_KEYS =
      Set.of("path", "checkpointlocation", "queryname", "outputmode", "checkpointpath");

  /** Spark's own options of asynchronous progress tracking; no option of the sink begins so. */
  private static final String ASYNC_PROGRESS = "asyncprogresstracking";

  /** What Spark adds to the options where it makes a table in its own catalog. */
  private static final Set<String> CATALOG_KEYS =
      Set.of("owner", "provider", "location", "is_managed_location", "external", "comment");

  /** Keys of the plain sender that do nothing in the sink, which has other ways for them. */
  private static final Set<ConnectKey> PLAIN_SENDER_ONLY =
      Set.of(
          ConnectKey.INITIAL_CONNECT_RETRY,
          ConnectKey.REQUEST_DURABLE_ACK,
          ConnectKey.AUTO_FLUSH,
          ConnectKey.AUTO_FLUSH_ROWS,
          ConnectKey.AUTO_FLUSH_BYTES,
          ConnectKey.AUTO_FLUSH_INTERVAL,
          ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS,
          ConnectKey.SF_APPEND_DEADLINE_MILLIS);

  private final EnumMap<SfOption, String> values = new EnumMap<>(SfOption.class);
  private final EnumMap<ConnectKey, String> engineOnly = new EnumMap<>(ConnectKey.class);

  private SfOptions() {}

  /**
   * Reads the options as Spark hands them over.
   *
   * @param given names in any case; names that are Spark's own are passed over
   * @throws SfException CONFIG_UNKNOWN_KEY, CONFIG_INVALID_VALUE, CONFIG_CONFLICT, CONFIG_MISSING
   */
  static SfOptions of(Map<String, String> given) {
    SfOptions options = new SfOptions();
    Map<SfOption, String> direct = new EnumMap<>(SfOption.class);
    given.forEach((name, value) -> readOne(name, value, direct));
    String connectString = direct.remove(SfOption.CONNECT_STRING);
    if (connectString != null) {
      options.readConnectString(connectString);
    }
    direct.forEach(options::merge);
    OptionRules.check(options);
    return options;
  }

  private static void readOne(String name, String value, Map<SfOption, String> direct) {
    String lower = name.toLowerCase(Locale.ROOT);
    SfOption option = SfOption.byKey().get(lower);
    if (option == null) {
      if (isOfSpark(lower)) {
        return;
      }
      if (ConnectKey.named(lower).isPresent()) {
        throw new SfException(
            ErrorCode.CONFIG_UNKNOWN_KEY,
            "option '"
                + lower
                + "' is a key of the plain sender and has no effect in the sink;"
                + " drop it.");
      }
      if (CATALOG_KEYS.contains(lower)) {
        throw new SfException(
            ErrorCode.SPARK_UNSUPPORTED,
            "Cannot be a table of Spark's catalog (saveAsTable, toTable, CREATE TABLE): end a batch"
                + " write with save() and a stream with start(), and name QuestDB's table with the"
                + " option table.");
      }
      throw ConnectString.unknown(lower, extraKeys());
    }
    String canonical = canonical(option, value);
    option.type().parse(option.key(), canonical);
    String before = direct.put(option, canonical);
    if (before != null && !same(option, before, canonical)) {
      throw new SfException(
          ErrorCode.CONFIG_CONFLICT,
          "option "
              + option
              + " is set twice (here as '"
              + name
              + "') with different values; keep"
              + " one.");
    }
  }

  private static boolean isOfSpark(String key) {
    return key.startsWith("_") || key.startsWith(ASYNC_PROGRESS) || SPARK_KEYS.contains(key);
  }

  private void readConnectString(String text) {
    SecretRef reference = SecretRef.parse(SfOption.CONNECT_STRING.key(), text);
    ConnectString read = ConnectString.of(reference.resolve(), extraKeys());
    read.values()
        .forEach(
            (key, value) -> {
              SfOption option = SfOption.byKey().get(key.key());
              if (option != null) {
                put(option, canonical(option, value));
              } else if (PLAIN_SENDER_ONLY.contains(key)) {
                LOG.warn(
                    "Key {} of connect_string is for the plain sender and has no effect in the"
                        + " sink.",
                    key.key());
              } else {
                engineOnly.put(key, value);
              }
            });
    read.extras()
        .forEach(
            (key, value) -> {
              SfOption option = SfOption.byKey().get(key);
              put(option, canonical(option, value));
            });
  }

  private void put(SfOption option, String value) {
    option.type().parse(option.key(), value);
    values.put(option, value);
  }

  private void merge(SfOption option, String value) {
    String said = values.put(option, value);
    if (said != null && !same(option, said, value)) {
      throw new SfException(
          ErrorCode.CONFIG_CONFLICT,
          "option "
              + option
              + (option.secret() ? "" : "=" + value)
              + " contradicts connect_string, which says "
              + (option.secret() ? "something else" : option + "=" + said)
              + "; keep one of them.");
    }
  }

  /** Words are taken in any case, as Spark users write them. */
  private static String canonical(SfOption option, String value) {
    ValueType.Kind kind = option.type().kind();
    if (kind == ValueType.Kind.BOOL) {
      return value.toLowerCase(Locale.ROOT);
    }
    if (kind == ValueType.Kind.ENUM) {
      for (String word : option.type().accepted()) {
        if (word.equalsIgnoreCase(value)) {
          return word;
        }
      }
    }
    return value;
  }

  private static boolean same(SfOption option, String a, String b) {
    return a.equals(b)
        || (!option.secret()
            && option.type().parse(option.key(), a).equals(option.type().parse(option.key(), b)));
  }

  private static Set<String> extraKeys() {
    Set<String> keys = new LinkedHashSet<>();
    SfOption.byKey()
        .forEach(
            (key, option) -> {
              if (option.connectKey().isEmpty() && option != SfOption.CONNECT_STRING) {
                keys.add(key);
              }
            });
    return keys;
  }

  /** Whether the user set it, as an option or in the connect string. */
  boolean isSet(SfOption option) {
    return values.containsKey(option);
  }

  /** The text, or the default's text; empty where there is neither. */
  Optional<String> text(SfOption option) {
    return Optional.ofNullable(values.getOrDefault(option, option.defaultValue()));
  }

  /** The text, or the default's, of an option that has a default. */
  String word(SfOption option) {
    return text(option).orElseThrow(() -> new IllegalStateException(option + " has no default"));
  }

  boolean is(SfOption option, String word) {
    return text(option).map(word::equals).orElse(false);
  }

  /** The value of a switch. */
  boolean on(SfOption option) {
    return (Boolean) option.type().parse(option.key(), word(option));
  }

  /** The value of a number, size or time; empty where it is not set and has no default. */
  Optional<Long> number(SfOption option) {
    return text(option).map(text -> ((Number) option.type().parse(option.key(), text)).longValue());
  }

  /** The entries of a list; empty where it is not set. */
  List<String> list(SfOption option) {
    return text(option)
        .map(
            text -> {
              List<String> entries = new ArrayList<>();
              ((List<?>) option.type().parse(option.key(), text))
                  .forEach(entry -> entries.add((String) entry));
              return entries;
            })
        .orElse(List.of());
  }

  CommitOn commitOn() {
    return CommitOn.valueOf(word(SfOption.COMMIT_ON).toUpperCase(Locale.ROOT));
  }

  boolean createsTable() {
    return on(SfOption.CREATE_TABLE) || is(SfOption.ON_MISSING_TABLE, "create");
  }

  /** What the user set of the engine's keys, by key; secrets included. */
  Map<ConnectKey, String> connectKeys() {
    EnumMap<ConnectKey, String> keys = new EnumMap<>(engineOnly);
    values.forEach((option, text) -> option.connectKey().ifPresent(key -> keys.put(key, text)));
    return keys;
  }

  /** The table, or the column that names it, for people. */
  String target() {
    return text(SfOption.TABLE)
        .map(table -> "table '" + table + "'")
        .orElseGet(() -> "tables named by column '" + word(SfOption.TABLE_COLUMN) + "'");
  }

  /** What was set, without secrets. */
  @Override
  public String toString() {
    Map<String, String> shown = new LinkedHashMap<>();
    engineOnly.forEach((key, text) -> shown.put(key.key(), key.isSecret() ? "***" : text));
    values.forEach((option, text) -> shown.put(option.key(), shown(option, text)));
    return shown.toString();
  }

  private static String shown(SfOption option, String text) {
    return option.secret() && !SecretRef.parse(option.key(), text).isReference() ? "***" : text;
  }

  /** Everything that was set, secrets included: equal identities may share connections. */
  String identity() {
    return engineOnly.toString() + values;
  }
}
