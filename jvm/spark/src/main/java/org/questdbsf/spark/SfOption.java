package org.questdbsf.spark;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Every option of the sink, in one table: name, type, default, range, where it is valid and what it
 * does. The options page, the Python dataclass and the checks at start are made from it. Names are
 * the keys of the connect string wherever the engine has such a key.
 *
 * <p>Sizes are bytes, or a number with k, m, g or t (1024-based); times are milliseconds.
 */
public enum SfOption {
  // where
  CONNECT_STRING(
      "connect_string",
      Type.SECRET,
      null,
      Where.ANY,
      "Connect string ws::... or wss::..., instead of the keys one by one."),
  ADDR("addr", Type.LIST, null, Where.ANY, "Hosts as host[:port], port 9000 where none is given."),
  TLS("tls", Type.BOOL, "off", Where.ANY, "TLS, as the scheme wss of a connect string says."),
  TLS_VERIFY(
      "tls_verify",
      "on",
      List.of("on", "unsafe_off"),
      Where.ANY,
      "Whether the server's certificate and host name are checked."),
  TLS_ROOTS("tls_roots", Type.TEXT, null, Where.ANY, "File of trusted roots: PEM, PKCS12 or JKS."),
  TLS_ROOTS_PASSWORD(
      "tls_roots_password", Type.SECRET, null, Where.ANY, "Password of the tls_roots file."),
  USERNAME("username", Type.TEXT, null, Where.ANY, "User for basic authentication."),
  PASSWORD("password", Type.SECRET, null, Where.ANY, "Password for basic authentication."),
  TOKEN("token", Type.SECRET, null, Where.ANY, "Bearer token, instead of user and password."),

  // what
  TABLE("table", Type.TEXT, null, Where.ANY, "Table that all rows go to."),
  TABLE_COLUMN(
      "table_column",
      Type.TEXT,
      null,
      Where.ANY,
      "Column that names each row's table; it is not itself written."),
  TIMESTAMP(
      "timestamp",
      Type.TEXT,
      null,
      Where.ANY,
      "Column of the designated timestamp: Timestamp, TimestampNTZ, Date, or Long with"
          + " timestamp_unit. Required on a stream."),
  SERVER_TIMESTAMP(
      "server_timestamp",
      Type.BOOL,
      "off",
      Where.ANY,
      "The server sets the designated timestamp; rows sent twice are then never the same row."),
  TIMESTAMP_UNIT(
      "timestamp_unit",
      "us",
      List.of("s", "ms", "us", "ns"),
      Where.ANY,
      "Unit of Long columns that become timestamps."),
  SYMBOLS("symbols", Type.LIST, null, Where.ANY, "String columns written as SYMBOL, not VARCHAR."),
  COLUMN_TYPES(
      "column_types",
      Type.TEXT,
      null,
      Where.ANY,
      "Types by column, as in \"dev UUID, ip IPV4, h LONG256, g GEOHASH(6c)\". Comes before the"
          + " column metadata questdb.type, that before the live table, that before the default."),
  NULLS_BOOLEAN("nulls_boolean", "error", List.of("error", "zero"), Where.ANY, nulls("BOOLEAN")),
  NULLS_BYTE("nulls_byte", "error", List.of("error", "zero"), Where.ANY, nulls("BYTE")),
  NULLS_SHORT("nulls_short", "error", List.of("error", "zero"), Where.ANY, nulls("SHORT")),
  NULLS_CHAR("nulls_char", "error", List.of("error", "zero"), Where.ANY, nulls("CHAR")),
  SENTINEL_VALUES(
      "sentinel_values",
      "error",
      List.of("error", "null"),
      Where.ANY,
      "The smallest Int and Long, which QuestDB stores as null: refuse the row, or write null."),
  UNSUPPORTED(
      "unsupported",
      "error",
      List.of("error", "skip", "json"),
      Where.ANY,
      "Columns whose type has no counterpart (struct, map, variant, interval, other arrays):"
          + " refuse the query, leave them out, or write JSON text."),
  NTZ_ZONE(
      "ntz_zone",
      Type.ZONE,
      "UTC",
      Where.ANY,
      "Zone of TimestampNTZ wall clocks. A time in a gap is refused, in an overlap the earlier"
          + " instant is taken."),
  DECIMALS_DOUBLE(
      "decimals_double",
      Type.LIST,
      null,
      Where.ANY,
      "Decimal columns written as DOUBLE, which loses digits; never without being named here."),

  // tables
  CREATE_TABLE(
      "create_table",
      Type.BOOL,
      "off",
      Where.ANY,
      "Create the table with partition_by, ttl and dedup_keys before the first row is sent."),
  PARTITION_BY(
      "partition_by",
      "DAY",
      List.of("NONE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"),
      Where.CREATE_TABLE,
      "Partitioning of a created table."),
  TTL("ttl", Type.TEXT, null, Where.CREATE_TABLE, "TTL of a created table, as in \"30 DAYS\"."),
  DEDUP_KEYS(
      "dedup_keys",
      Type.LIST,
      null,
      Where.CREATE_TABLE,
      "DEDUP UPSERT KEYS of a created table; the designated timestamp is added where missing."),
  ON_MISSING_TABLE(
      "on_missing_table",
      null,
      List.of("fail", "create"),
      Where.ANY,
      "What to do where the table is not there, also in mid-stream. Default: create with"
          + " create_table, else fail."),
  REQUIRE_DEDUP(
      "require_dedup", Type.BOOL, "off", Where.ANY, "Refuse a table without DEDUP UPSERT KEYS."),
  UPDATE_KEYS(
      "update_keys",
      Type.LIST,
      null,
      Where.STREAM,
      "Required by outputMode(\"update\"); must equal the table's DEDUP UPSERT KEYS."),

  // delivery
  COMMIT_ON(
      "commit_on",
      "ack",
      List.of("ack", "store", "durable"),
      Where.ANY,
      "When a task commits: ack = the server acknowledged its rows; store = they are forced to"
          + " the local slot; durable = the server acknowledged them as durable."),
  SF_DIR(
      "sf_dir",
      Type.TEXT,
      null,
      Where.ANY,
      "Directory of the slots, on a local disk of each executor: for commit_on=store, and to adopt"
          + " what an earlier run left."),
  SF_DIR_IS_PERSISTENT(
      "sf_dir_is_persistent",
      Type.BOOL,
      "off",
      Where.STORE,
      "You vouch that sf_dir outlives the executor. Needed for commit_on=store with dynamic"
          + " allocation, on Kubernetes and on YARN."),
  SENDER_ID(
      "sender_id",
      Type.NAME,
      null,
      Where.SF_DIR,
      "Prefix of slot names. Default on a stream: made of the query id."),
  TARGET_ID(
      "target_id",
      Type.TEXT,
      null,
      Where.SF_DIR,
      "Identity of the database, for when its addresses change."),
  SF_DURABILITY(
      "sf_durability",
      "flush",
      List.of("memory", "periodic", "flush"),
      Where.STORE,
      "What commit_on=store forces to disk: flush = at each task commit, periodic = every"
          + " sf_sync_interval_millis, memory = never (rows survive the process, not the host)."),
  SF_SYNC_INTERVAL_MILLIS(
      "sf_sync_interval_millis",
      Type.MILLIS,
      "5000",
      1,
      Integer.MAX_VALUE,
      Where.STORE,
      "Interval of sf_durability=periodic."),
  SF_MAX_TOTAL_BYTES(
      "sf_max_total_bytes",
      Type.SIZE,
      null,
      1 << 16,
      Long.MAX_VALUE,
      Where.ANY,
      "Bytes that wait for acknowledgement, per executor JVM, all lanes together. Default 128m,"
          + " with commit_on=store 10g."),
  SF_MAX_SEGMENT_BYTES(
      "sf_max_segment_bytes",
      Type.SIZE,
      null,
      1 << 12,
      Integer.MAX_VALUE,
      Where.ANY,
      "Bytes of one segment. Default: derived so that two segments a core fit half the budget, at"
          + " most 4m."),
  SF_MIN_FREE_BYTES(
      "sf_min_free_bytes",
      Type.SIZE,
      "1g",
      0,
      Long.MAX_VALUE,
      Where.STORE,
      "Free disk below which no segment is made."),
  SF_FORMAT("sf_format", "1", List.of("1"), Where.STORE, "Format of the slots."),
  DRAIN_ORPHANS(
      "drain_orphans",
      "own",
      List.of("off", "own", "all"),
      Where.SF_DIR,
      "Slots of ended processes that this one sends: none, those of the same sender_id, or all of"
          + " the same target."),
  MAX_LANES(
      "max_lanes",
      Type.INT,
      null,
      1,
      4096,
      Where.ANY,
      "Connections per executor. Default: its task slots."),
  DRAIN_ON_STOP_MILLIS(
      "drain_on_stop_millis",
      Type.MILLIS,
      "5000",
      0,
      Integer.MAX_VALUE,
      Where.ANY,
      "How long an ending JVM goes on sending what waits in slots; one deadline for all lanes."),
  FRAME_ROWS(
      "frame_rows", Type.INT, "65536", 1, 1_000_000, Where.ANY, "Rows after which a frame is cut."),
  FRAME_BYTES(
      "frame_bytes",
      Type.SIZE,
      "1m",
      1 << 10,
      1 << 24,
      Where.ANY,
      "Bytes after which a frame is cut; always below 90 % of the server's cap, and below 120k"
          + " until a cap was seen."),

  // rejections
  ON_SCHEMA_ERROR("on_schema_error", "halt", List.of("halt", "drop"), Where.ANY, on("a schema")),
  ON_PARSE_ERROR("on_parse_error", "halt", List.of("halt", "drop"), Where.ANY, on("a parse")),
  ON_SECURITY_ERROR(
      "on_security_error", "halt", List.of("halt", "drop"), Where.ANY, on("a security")),
  ON_WRITE_ERROR(
      "on_write_error", "retry", List.of("retry", "halt", "drop"), Where.ANY, on("a write")),
  ON_INTERNAL_ERROR(
      "on_internal_error", "retry", List.of("retry", "halt", "drop"), Where.ANY, on("an internal")),
  ON_UNKNOWN_ERROR(
      "on_unknown_error", "retry", List.of("retry", "halt", "drop"), Where.ANY, on("an unknown")),
  ON_SERVER_ERROR(
      "on_server_error",
      null,
      List.of("halt", "drop", "retry"),
      Where.ANY,
      "The same for every category that has no option of its own set."),
  ON_ROW_ERROR(
      "on_row_error",
      "fail",
      List.of("fail", "dead_letter"),
      Where.ANY,
      "A value that cannot be encoded: fail the task, or write the row to dead_letter_dir."),
  DEAD_LETTER_DIR(
      "dead_letter_dir",
      Type.TEXT,
      null,
      Where.ANY,
      "Any Hadoop path; required by drop and dead_letter."),
  MAX_DEAD_LETTER_ROWS(
      "max_dead_letter_rows",
      Type.INT,
      "10000",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "Dead-letter rows of one task attempt above which it fails all the same."),
  MAX_FRAME_REJECTIONS(
      "max_frame_rejections",
      Type.INT,
      "4",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "Times that a frame is refused before it counts as poison."),
  POISON_MIN_ESCALATION_WINDOW_MILLIS(
      "poison_min_escalation_window_millis",
      Type.MILLIS,
      "300000",
      0,
      Integer.MAX_VALUE,
      Where.ANY,
      "Time that a frame is refused before it counts as poison."),

  // connection
  CONNECT_TIMEOUT(
      "connect_timeout", Type.MILLIS, "5000", 1, Integer.MAX_VALUE, Where.ANY, "TCP connect."),
  AUTH_TIMEOUT_MS(
      "auth_timeout_ms",
      Type.MILLIS,
      "15000",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "TLS and WebSocket upgrade."),
  ACK_TIMEOUT_MILLIS(
      "ack_timeout_millis",
      Type.MILLIS,
      "30000",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "Silence of the server, while rows are unacknowledged, after which the connection is given"
          + " up."),
  RECONNECT_INITIAL_BACKOFF_MILLIS(
      "reconnect_initial_backoff_millis",
      Type.MILLIS,
      "100",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "First pause between connection attempts."),
  RECONNECT_MAX_BACKOFF_MILLIS(
      "reconnect_max_backoff_millis",
      Type.MILLIS,
      "5000",
      1,
      Integer.MAX_VALUE,
      Where.ANY,
      "Longest pause between connection attempts."),
  RECONNECT_MAX_DURATION_MILLIS(
      "reconnect_max_duration_millis",
      Type.MILLIS,
      null,
      0,
      Integer.MAX_VALUE,
      Where.ANY,
      "Longest outage before an error; 0 = no limit. Default: 0 on a stream, 300000 in a batch"
          + " write."),
  DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS(
      "durable_ack_keepalive_interval_millis",
      Type.MILLIS,
      "200",
      0,
      Integer.MAX_VALUE,
      Where.ANY,
      "Pause between PINGs that ask for durable acknowledgements."),
  ERROR_INBOX_CAPACITY(
      "error_inbox_capacity",
      Type.INT,
      "256",
      16,
      Integer.MAX_VALUE,
      Where.ANY,
      "Errors kept until they are reported."),
  MAX_SYMBOLS_PER_SLOT(
      "max_symbols_per_slot",
      Type.INT,
      "200000",
      1,
      1_000_000,
      Where.ANY,
      "Distinct symbols after which a lane begins anew."),
  MAX_NAME_LEN(
      "max_name_len",
      Type.INT,
      "127",
      16,
      127,
      Where.ANY,
      "Longest table and column name, in bytes of UTF-8.");

  /** What a value looks like. */
  public enum Type {
    TEXT,
    /** Letters, digits, underscore, hyphen. */
    NAME,
    /** A literal, {@code ${env:NAME}} or {@code ${file:/path}}; never shown. */
    SECRET,
    /** on, off, true, false. */
    BOOL,
    /** Bytes, or a number with k, m, g, t. */
    SIZE,
    MILLIS,
    INT,
    /** Comma-separated. */
    LIST,
    /** One of {@link SfOption#choices()}. */
    CHOICE,
    /** A zone id of java.time. */
    ZONE
  }

  /** Where an option has an effect; set elsewhere it is an error. */
  public enum Where {
    ANY,
    STREAM,
    /** With {@code commit_on=store}. */
    STORE,
    /** With {@code sf_dir}. */
    SF_DIR,
    /** With {@code create_table=on} or {@code on_missing_table=create}. */
    CREATE_TABLE
  }

  private static final Map<String, SfOption> BY_KEY;

  static {
    Map<String, SfOption> map = new HashMap<>();
    for (SfOption option : values()) {
      map.put(option.key, option);
    }
    map.put("sf_max_bytes", SF_MAX_SEGMENT_BYTES);
    BY_KEY = Collections.unmodifiableMap(map);
  }

  private final String key;
  private final Type type;
  private final String defaultValue;
  private final long min;
  private final long max;
  private final List<String> choices;
  private final Where where;
  private final String doc;

  SfOption(String key, Type type, String defaultValue, Where where, String doc) {
    this(key, type, defaultValue, Long.MIN_VALUE, Long.MAX_VALUE, List.of(), where, doc);
  }

  SfOption(String key, String defaultValue, List<String> choices, Where where, String doc) {
    this(key, Type.CHOICE, defaultValue, Long.MIN_VALUE, Long.MAX_VALUE, choices, where, doc);
  }

  SfOption(
      String key, Type type, String defaultValue, long min, long max, Where where, String doc) {
    this(key, type, defaultValue, min, max, List.of(), where, doc);
  }

  SfOption(
      String key,
      Type type,
      String defaultValue,
      long min,
      long max,
      List<String> choices,
      Where where,
      String doc) {
    this.key = key;
    this.type = type;
    this.defaultValue = defaultValue;
    this.min = min;
    this.max = max;
    this.choices = choices;
    this.where = where;
    this.doc = doc;
  }

  private static String nulls(String type) {
    return "A null for a " + type + " column, which has none: refuse the row, or write zero.";
  }

  private static String on(String category) {
    return "The server answers with "
        + category
        + " error: halt = fail the query, retry = send again for ever, drop = write the frame to"
        + " dead_letter_dir and go on.";
  }

  /** The name as users write it. */
  public String key() {
    return key;
  }

  public Type type() {
    return type;
  }

  /** The default as users would write it; null where there is none or it depends. */
  public String defaultValue() {
    return defaultValue;
  }

  /** Smallest value of INT, SIZE and MILLIS; {@code Long.MIN_VALUE} for other types. */
  public long min() {
    return min;
  }

  /** Largest value of INT, SIZE and MILLIS; {@code Long.MAX_VALUE} where there is none. */
  public long max() {
    return max;
  }

  /** The values of a CHOICE, else empty. */
  public List<String> choices() {
    return choices;
  }

  public Where where() {
    return where;
  }

  /** Whether the value must never be shown. */
  public boolean secret() {
    return type == Type.SECRET;
  }

  /** One sentence or two. */
  public String doc() {
    return doc;
  }

  /** The option of a key in any case, aliases included. */
  public static Optional<SfOption> of(String key) {
    return Optional.ofNullable(BY_KEY.get(key.toLowerCase(Locale.ROOT)));
  }

  @Override
  public String toString() {
    return key;
  }
}
