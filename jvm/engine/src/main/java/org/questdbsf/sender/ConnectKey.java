package org.questdbsf.sender;

import static org.questdbsf.sender.ValueType.Kind.INT_OR_OFF;
import static org.questdbsf.sender.ValueType.Kind.LIST;
import static org.questdbsf.sender.ValueType.Kind.MILLIS_OR_OFF;
import static org.questdbsf.sender.ValueType.Kind.PATH;
import static org.questdbsf.sender.ValueType.Kind.SECRET;
import static org.questdbsf.sender.ValueType.Kind.SIZE_OR_OFF;
import static org.questdbsf.sender.ValueType.Kind.STRING;
import static org.questdbsf.sender.ValueType.bool;
import static org.questdbsf.sender.ValueType.ints;
import static org.questdbsf.sender.ValueType.millis;
import static org.questdbsf.sender.ValueType.of;
import static org.questdbsf.sender.ValueType.orOff;
import static org.questdbsf.sender.ValueType.size;
import static org.questdbsf.sender.ValueType.words;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.questdbsf.qwp.QwpLimits;

/**
 * The one table of connect-string keys (client spec section 4): aliases, type, range, default and
 * doc. The key is the constant's name in lower case. What a key that is not here means is in {@link
 * RetiredKeys}. A default may differ between the plain sender and the Spark sink; a default of null
 * means that there is none, or that it depends on other keys as the doc says.
 */
public enum ConnectKey {
  // Where
  ADDR(of(LIST), none(), "Servers: host[:port], comma-separated; port 9000; IPv6 in brackets."),
  TLS(bool(), is("off"), "TLS; what the scheme wss says."),
  TLS_VERIFY(words("on", "unsafe_off"), is("on"), "Whether the server's certificate is checked."),
  TLS_ROOTS(of(PATH), none(), "Trusted certificates: PEM, PKCS12 or JKS; the system's if unset."),
  TLS_ROOTS_PASSWORD(of(SECRET), none(), "Password of tls_roots."),
  USERNAME(of(STRING), none(), "User of HTTP basic authentication; with password.", "user"),
  PASSWORD(of(SECRET), none(), "Password of HTTP basic authentication; with username.", "pass"),
  TOKEN(of(SECRET), none(), "Bearer token; not with username."),
  CLIENT_ID(of(STRING), is("questdb-sf"), "Sent as X-QWP-Client-Id."),

  // Connection
  CONNECT_TIMEOUT(millis(1), is("5000"), "Longest wait for a TCP connection."),
  AUTH_TIMEOUT_MS(millis(1), is("15000"), "Longest wait for TLS and the WebSocket upgrade."),
  ACK_TIMEOUT_MILLIS(
      millis(1),
      is("30000"),
      "Frames unacknowledged for so long: reconnect, whatever else the server says."),
  RECONNECT_INITIAL_BACKOFF_MILLIS(millis(1), is("100"), "First pause after all servers failed."),
  RECONNECT_MAX_BACKOFF_MILLIS(millis(1), is("5000"), "Longest pause between rounds."),
  RECONNECT_MAX_DURATION_MILLIS(
      millis(0),
      is("300000", "0"),
      "Longest outage, and longest wait for a refusal to pass; 0: no limit."),
  INITIAL_CONNECT_RETRY(
      words("off", "false=off", "on", "sync=on", "true=on", "async"),
      is("off", "async"),
      "First connect: off fails after one round, on blocks and retries, async does not block."),
  REQUEST_DURABLE_ACK(bool(), is("off"), "Trim only what the server confirms as durable."),
  DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS(
      millis(Integer.MIN_VALUE),
      is("200"),
      "PING while durable confirmations are pending; 0: none."),

  // Flushing (plain sender)
  AUTO_FLUSH(bool(), is("on"), "Whether rows are flushed without flush()."),
  AUTO_FLUSH_ROWS(orOff(INT_OR_OFF), is("1000"), "Rows after which they are flushed."),
  AUTO_FLUSH_BYTES(orOff(SIZE_OR_OFF), is("off"), "Bytes after which rows are flushed."),
  AUTO_FLUSH_INTERVAL(
      orOff(MILLIS_OR_OFF), is("100"), "Age of the first row; seen at the next row."),
  INIT_BUF_SIZE(size(1), is("64k"), "Initial capacity of the encode buffer."),
  MAX_BUF_SIZE(size(1), is("100m"), "Largest capacity of the encode buffer."),
  MAX_NAME_LEN(ints(16, 127), is("127"), "Longest table or column name in UTF-8 bytes."),
  FRAME_ROWS(ints(1, QwpLimits.MAX_FRAME_ROWS), is("65536"), "Most rows in a frame."),
  FRAME_BYTES(size(1024), is("1m"), "Most bytes in a frame, below 90 % of the server's cap."),
  MAX_SYMBOLS_PER_SLOT(
      ints(1, 900_000), is("200000"), "Symbols after which an empty dictionary follows."),
  CLOSE_FLUSH_TIMEOUT_MILLIS(
      millis(Integer.MIN_VALUE), is("5000"), "close() waits so long for acknowledgements; 0: not."),

  // Store and forward
  SF_DIR(of(PATH), none(), "Directory of slots; unset: the ring is in memory."),
  SENDER_ID(of(STRING), is("default"), "Name of the slot in sf_dir: letters, digits, _ and -."),
  TARGET_ID(of(STRING), none(), "Identity of the database when its addresses change."),
  SF_MAX_SEGMENT_BYTES(size(4096, 1 << 30), is("4m"), "Size of a segment.", "sf_max_bytes"),
  SF_MAX_TOTAL_BYTES(size(8192), none(), "Budget of all segments: 128m in memory, 10g on disk."),
  SF_MIN_FREE_BYTES(size(0), is("1g"), "Free disk below which no segment is made."),
  SF_DURABILITY(
      words("memory", "periodic", "flush", "append"),
      is("memory", "flush"),
      "When frames are forced to disk: never, each sf_sync_interval_millis, or at each flush."),
  SF_SYNC_INTERVAL_MILLIS(millis(1), is("5000"), "Interval of sf_durability=periodic."),
  SF_FORMAT(words("1", "2"), is("1"), "Format of slots that are written."),
  SF_APPEND_DEADLINE_MILLIS(millis(1), is("30000"), "Longest wait for room in the ring."),
  DRAIN_ORPHANS(
      words("off", "false=off", "own", "all", "on=all", "true=all"),
      is("off", "own"),
      "Whose slots are adopted: none, those of the same sender_id family, or all in sf_dir."),
  MAX_BACKGROUND_DRAINERS(ints(0, 1024), is("4"), "Most orphans drained at once."),

  // Rejections
  ON_SERVER_ERROR(
      policy(),
      is("auto"),
      "Policy of categories that have none of their own. auto: retry what may pass; keep frames"
          + " that do not fit their table aside, where there is a place for them; else halt."),
  ON_SCHEMA_ERROR(policy(), is("auto"), "Policy for schema mismatches."),
  ON_PARSE_ERROR(policy(), is("auto"), "Policy for messages that the server cannot parse."),
  ON_SECURITY_ERROR(policy(), is("auto"), "Policy for missing permissions."),
  ON_WRITE_ERROR(policy(), is("auto"), "Policy for failed writes."),
  ON_INTERNAL_ERROR(policy(), is("auto"), "Policy for internal errors of the server."),
  ON_UNKNOWN_ERROR(policy(), is("auto"), "Policy for statuses that are not known."),
  ERROR_INBOX_CAPACITY(
      ints(16, 1 << 20), is("256"), "Errors kept for the handler; oldest go first."),
  MAX_FRAME_REJECTIONS(ints(1, Integer.MAX_VALUE), is("4"), "Strikes that make a frame poison."),
  POISON_MIN_ESCALATION_WINDOW_MILLIS(
      millis(0), is("5000", "300000"), "Time that must pass besides before a frame is poison."),
  CATCH_UP_CAP_GAP_MIN_ESCALATION_WINDOW_MILLIS(
      millis(0), is("300000"), "Time for which all servers must have too small a cap.");

  private static final Map<String, ConnectKey> BY_NAME = new HashMap<>();

  static {
    for (ConnectKey key : values()) {
      BY_NAME.put(key.key, key);
      key.aliases.forEach(alias -> BY_NAME.put(alias, key));
    }
  }

  private final String key;
  private final ValueType type;
  private final Default byDefault;
  private final String doc;
  private final List<String> aliases;

  ConnectKey(ValueType type, Default byDefault, String doc, String... aliases) {
    this.key = name().toLowerCase(Locale.ROOT);
    this.type = type;
    this.byDefault = byDefault;
    this.doc = doc;
    this.aliases = List.of(aliases);
  }

  /** Defaults of the plain sender and of the sink. */
  private record Default(String engine, String sink) {}

  private static Default is(String both) {
    return new Default(both, both);
  }

  private static Default is(String engine, String sink) {
    return new Default(engine, sink);
  }

  private static Default none() {
    return new Default(null, null);
  }

  private static ValueType policy() {
    return words(
        "auto", "halt", "terminal=halt", "drop", "retry", "retriable=retry", "retriable_other");
  }

  /** The key as written in a connect string. */
  public String key() {
    return key;
  }

  /** Other spellings. */
  public List<String> aliases() {
    return aliases;
  }

  public ValueType type() {
    return type;
  }

  /** The value that holds when the key is not set, or null where there is none. */
  public String defaultText(ConfigPreset preset) {
    return preset == ConfigPreset.SINK ? byDefault.sink : byDefault.engine;
  }

  public String doc() {
    return doc;
  }

  /** Whether the value must never be shown. */
  public boolean isSecret() {
    return type.isSecret();
  }

  /** The key of a name or alias. */
  public static Optional<ConnectKey> named(String name) {
    return Optional.ofNullable(BY_NAME.get(name));
  }
}
