package org.questdbsf.spark;

import static org.questdbsf.sender.ValueType.Kind.LIST;
import static org.questdbsf.sender.ValueType.Kind.SECRET;
import static org.questdbsf.sender.ValueType.Kind.STRING;
import static org.questdbsf.sender.ValueType.bool;
import static org.questdbsf.sender.ValueType.ints;
import static org.questdbsf.sender.ValueType.of;
import static org.questdbsf.sender.ValueType.words;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.questdbsf.sender.ConfigPreset;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.ValueType;

/**
 * Every option of the sink, in one table: name, type and range, default, where it has an effect and
 * what it does. The options page, the Python dataclass and the checks at start are made from it. An
 * option that the engine knows as well is bound to its {@link ConnectKey} and has its type. The
 * name is the constant's in lower case.
 */
public enum SfOption {
  // Where
  CONNECT_STRING(
      of(SECRET),
      null,
      Where.ANY,
      "Connect string ws::... or wss::...; may hold every other option as a key."),
  ADDR(ConnectKey.ADDR, Where.ANY, "Hosts as host[:port], port 9000 where none is given."),
  TLS(ConnectKey.TLS, Where.ANY, "TLS, as the scheme wss of a connect string says."),
  TLS_VERIFY(
      ConnectKey.TLS_VERIFY,
      Where.ANY,
      "Whether the server's certificate and host name are checked."),
  TLS_ROOTS(ConnectKey.TLS_ROOTS, Where.ANY, "File of trusted roots: PEM, PKCS12 or JKS."),
  TLS_ROOTS_PASSWORD(ConnectKey.TLS_ROOTS_PASSWORD, Where.ANY, "Password of the tls_roots file."),
  USERNAME(ConnectKey.USERNAME, Where.ANY, "User for basic authentication; with password."),
  PASSWORD(ConnectKey.PASSWORD, Where.ANY, "Password for basic authentication; with username."),
  TOKEN(ConnectKey.TOKEN, Where.ANY, "Bearer token, instead of username and password."),

  // What
  TABLE(of(STRING), null, Where.ANY, "Table that all rows go to."),
  TABLE_COLUMN(
      of(STRING),
      null,
      Where.ANY,
      "String column that names each row's table; it is not itself written."),
  TIMESTAMP(
      of(STRING),
      null,
      Where.ANY,
      "Column of the designated timestamp: Timestamp, TimestampNTZ, Date, or Long with"
          + " timestamp_unit. Required on a stream."),
  SERVER_TIMESTAMP(
      bool(),
      "off",
      Where.ANY,
      "The server sets the designated timestamp; a row sent twice is then two rows."),
  TIMESTAMP_UNIT(
      words("s", "ms", "us", "ns"), "us", Where.ANY, "Unit of Long columns that become times."),
  SYMBOLS(of(LIST), null, Where.ANY, "String columns written as SYMBOL, not VARCHAR."),
  COLUMN_TYPES(
      of(STRING),
      null,
      Where.ANY,
      "Types by column, as in \"dev UUID, ip IPV4, h LONG256, g GEOHASH(6c)\". Comes before the"
          + " column metadata questdb.type, that before the live table, that before the default."),
  NULLS_BOOLEAN(words("error", "zero"), "error", Where.ANY, nulls("BOOLEAN", "false")),
  NULLS_BYTE(words("error", "zero"), "error", Where.ANY, nulls("BYTE", "0")),
  NULLS_SHORT(words("error", "zero"), "error", Where.ANY, nulls("SHORT", "0")),
  NULLS_CHAR(words("error", "zero"), "error", Where.ANY, nulls("CHAR", "0")),
  SENTINEL_VALUES(
      words("error", "null"),
      "error",
      Where.ANY,
      "The smallest Int and Long, which QuestDB reads as null: refuse the row, or write null."),
  UNSUPPORTED(
      words("error", "skip", "json"),
      "error",
      Where.ANY,
      "Columns whose type has no counterpart (struct, map, variant, interval, other arrays):"
          + " refuse the query, leave them out, or write JSON text."),
  NTZ_ZONE(
      of(STRING),
      "UTC",
      Where.ANY,
      "Zone of TimestampNTZ wall clocks. A time in a gap is refused, in an overlap the earlier"
          + " instant is taken."),
  DECIMALS_DOUBLE(
      of(LIST),
      null,
      Where.ANY,
      "Decimal columns written as DOUBLE, which may lose digits; none unless named here."),

  // Tables
  CREATE_TABLE(
      bool(),
      "off",
      Where.ANY,
      "Create the table, with partition_by, ttl and dedup_keys, before the first row is sent."),
  PARTITION_BY(
      words("HOUR", "DAY", "WEEK", "MONTH", "YEAR"),
      "DAY",
      Where.CREATE_TABLE,
      "Partitioning of a created table."),
  TTL(of(STRING), null, Where.CREATE_TABLE, "TTL of a created table, as in \"30 DAYS\"."),
  DEDUP_KEYS(
      of(LIST),
      null,
      Where.CREATE_TABLE,
      "DEDUP UPSERT KEYS of a created table; with the designated timestamp, which QuestDB asks"
          + " for."),
  ON_MISSING_TABLE(
      words("fail", "create"),
      null,
      Where.ANY,
      "Where the table is not there, also in mid-stream. Default: create with create_table, else"
          + " fail."),
  REQUIRE_DEDUP(bool(), "off", Where.ANY, "Refuse a table without DEDUP UPSERT KEYS."),
  UPDATE_KEYS(
      of(LIST),
      null,
      Where.STREAM,
      "Required by outputMode(\"update\"); must equal the table's DEDUP UPSERT KEYS."),

  // Delivery
  COMMIT_ON(
      words("ack", "store", "durable"),
      "ack",
      Where.ANY,
      "When a task commits: ack = the server acknowledged its rows; store = they are in the local"
          + " slot, forced; durable = the server acknowledged them as durable."),
  SF_DIR(
      ConnectKey.SF_DIR,
      Where.ANY,
      "Directory of the slots, on a local disk of each executor: for commit_on=store, and to adopt"
          + " what an earlier run left."),
  SF_DIR_IS_PERSISTENT(
      bool(),
      "off",
      Where.STORE,
      "You vouch that sf_dir outlives the executor. Needed for commit_on=store with dynamic"
          + " allocation, on Kubernetes and on YARN."),
  SENDER_ID(
      ConnectKey.SENDER_ID,
      of(STRING),
      null,
      Where.SF_DIR,
      "Prefix of slot names: letters, digits, _ and -. Default on a stream: made of the query id;"
          + " required by a batch write with commit_on=store."),
  TARGET_ID(
      ConnectKey.TARGET_ID,
      Where.SF_DIR,
      "Identity of the database, for when its addresses change."),
  SF_DURABILITY(
      ConnectKey.SF_DURABILITY,
      words("memory", "periodic", "flush"),
      "flush",
      Where.STORE,
      "What commit_on=store forces to disk: flush = at each task commit, periodic = every"
          + " sf_sync_interval_millis, memory = never (rows survive the process, not the host)."),
  SF_SYNC_INTERVAL_MILLIS(
      ConnectKey.SF_SYNC_INTERVAL_MILLIS, Where.STORE, "Interval of sf_durability=periodic."),
  SF_MAX_TOTAL_BYTES(
      ConnectKey.SF_MAX_TOTAL_BYTES,
      Where.ANY,
      "Bytes that wait for acknowledgement, per executor JVM, all lanes together. Default 128m,"
          + " with commit_on=store 10g."),
  SF_MAX_SEGMENT_BYTES(
      ConnectKey.SF_MAX_SEGMENT_BYTES,
      ConnectKey.SF_MAX_SEGMENT_BYTES.type(),
      null,
      Where.ANY,
      "Bytes of one segment. Default: derived so that two segments a lane fit half the budget, at"
          + " most 4m."),
  SF_MIN_FREE_BYTES(
      ConnectKey.SF_MIN_FREE_BYTES, Where.STORE, "Free disk below which no segment is made."),
  SF_FORMAT(ConnectKey.SF_FORMAT, words("1"), "1", Where.STORE, "Format of the slots."),
  DRAIN_ORPHANS(
      ConnectKey.DRAIN_ORPHANS,
      words("off", "own", "all"),
      "own",
      Where.SF_DIR,
      "Slots of ended processes that this one sends: none, those of the same sender_id, or all of"
          + " the same target."),
  MAX_LANES(ints(1, 4096), null, Where.ANY, "Connections per executor. Default: its task slots."),
  DRAIN_ON_STOP_MILLIS(
      ValueType.millis(0),
      "5000",
      Where.ANY,
      "How long an ending JVM goes on sending what waits in slots; one deadline for all lanes."),
  FRAME_ROWS(ConnectKey.FRAME_ROWS, Where.ANY, "Rows after which a frame is cut."),
  FRAME_BYTES(
      ConnectKey.FRAME_BYTES,
      Where.ANY,
      "Bytes after which a frame is cut; always below 90 % of the server's cap, and below 120k"
          + " until a cap was seen."),

  // Rejections
  ON_SCHEMA_ERROR(ConnectKey.ON_SCHEMA_ERROR, words("halt", "drop"), "halt", Where.ANY, refused()),
  ON_PARSE_ERROR(ConnectKey.ON_PARSE_ERROR, words("halt", "drop"), "halt", Where.ANY, refused()),
  ON_SECURITY_ERROR(
      ConnectKey.ON_SECURITY_ERROR, words("halt", "drop"), "halt", Where.ANY, refused()),
  ON_WRITE_ERROR(
      ConnectKey.ON_WRITE_ERROR, words("retry", "halt", "drop"), "retry", Where.ANY, refused()),
  ON_INTERNAL_ERROR(
      ConnectKey.ON_INTERNAL_ERROR, words("retry", "halt", "drop"), "retry", Where.ANY, refused()),
  ON_UNKNOWN_ERROR(
      ConnectKey.ON_UNKNOWN_ERROR, words("retry", "halt", "drop"), "retry", Where.ANY, refused()),
  ON_SERVER_ERROR(
      ConnectKey.ON_SERVER_ERROR,
      words("halt", "drop", "retry"),
      null,
      Where.ANY,
      "The same for every category that has no option of its own set."),
  ON_ROW_ERROR(
      words("fail", "dead_letter"),
      "fail",
      Where.ANY,
      "A value that cannot be encoded: fail the task, or write the row to dead_letter_dir."),
  DEAD_LETTER_DIR(
      of(STRING), null, Where.ANY, "Any Hadoop path; required by drop and dead_letter."),
  MAX_DEAD_LETTER_ROWS(
      ints(1, Integer.MAX_VALUE),
      "10000",
      Where.ANY,
      "Rows that one task may write to dead_letter_dir; with more it fails."),
  MAX_FRAME_REJECTIONS(
      ConnectKey.MAX_FRAME_REJECTIONS,
      Where.ANY,
      "Times that a frame is refused before it counts as poison."),
  POISON_MIN_ESCALATION_WINDOW_MILLIS(
      ConnectKey.POISON_MIN_ESCALATION_WINDOW_MILLIS,
      Where.ANY,
      "Time for which a frame is refused before it counts as poison."),

  // Connection
  CONNECT_TIMEOUT(ConnectKey.CONNECT_TIMEOUT, Where.ANY, "Longest wait for a TCP connection."),
  AUTH_TIMEOUT_MS(
      ConnectKey.AUTH_TIMEOUT_MS, Where.ANY, "Longest wait for TLS and the WebSocket upgrade."),
  ACK_TIMEOUT_MILLIS(
      ConnectKey.ACK_TIMEOUT_MILLIS,
      Where.ANY,
      "Silence of the server, while rows are unacknowledged, after which the connection is given"
          + " up."),
  RECONNECT_INITIAL_BACKOFF_MILLIS(
      ConnectKey.RECONNECT_INITIAL_BACKOFF_MILLIS, Where.ANY, "First pause between rounds."),
  RECONNECT_MAX_BACKOFF_MILLIS(
      ConnectKey.RECONNECT_MAX_BACKOFF_MILLIS, Where.ANY, "Longest pause between rounds."),
  RECONNECT_MAX_DURATION_MILLIS(
      ConnectKey.RECONNECT_MAX_DURATION_MILLIS,
      ConnectKey.RECONNECT_MAX_DURATION_MILLIS.type(),
      null,
      Where.ANY,
      "Longest outage before an error; 0 = no limit. Default: 0 on a stream, 300000 in a batch"
          + " write."),
  DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS(
      ConnectKey.DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS,
      Where.ANY,
      "Pause between PINGs that ask for durable acknowledgements."),
  ERROR_INBOX_CAPACITY(
      ConnectKey.ERROR_INBOX_CAPACITY, Where.ANY, "Errors kept until they are reported."),
  MAX_SYMBOLS_PER_SLOT(
      ConnectKey.MAX_SYMBOLS_PER_SLOT,
      Where.ANY,
      "Distinct symbols after which a lane begins anew."),
  MAX_NAME_LEN(
      ConnectKey.MAX_NAME_LEN, Where.ANY, "Longest table and column name, in bytes of UTF-8.");

  /** Where an option has an effect. Set where it has none, it is an error. */
  public enum Where {
    ANY,
    /** On a stream, not in a batch write. */
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
    Map<String, SfOption> map = new LinkedHashMap<>();
    for (SfOption option : values()) {
      map.put(option.key, option);
      if (option.connectKey != null) {
        option.connectKey.aliases().forEach(alias -> map.put(alias, option));
      }
    }
    BY_KEY = Collections.unmodifiableMap(map);
  }

  private final String key = name().toLowerCase(Locale.ROOT);
  private final ConnectKey connectKey;
  private final ValueType type;
  private final String defaultValue;
  private final Where where;
  private final String doc;

  SfOption(ConnectKey connectKey, Where where, String doc) {
    this(connectKey, connectKey.type(), connectKey.defaultText(ConfigPreset.SINK), where, doc);
  }

  SfOption(ValueType type, String defaultValue, Where where, String doc) {
    this(null, type, defaultValue, where, doc);
  }

  SfOption(ConnectKey connectKey, ValueType type, String defaultValue, Where where, String doc) {
    this.connectKey = connectKey;
    this.type = type;
    this.defaultValue = defaultValue;
    this.where = where;
    this.doc = doc;
  }

  private static String nulls(String type, String zero) {
    return "A null for a "
        + type
        + " column, which has none: refuse the row, or write "
        + zero
        + ".";
  }

  private static String refused() {
    return "A frame that the server refuses for such a reason: halt = fail the query, retry = send"
        + " it again for ever, drop = write it to dead_letter_dir and go on.";
  }

  /** The name as users write it. */
  public String key() {
    return key;
  }

  /** The engine's key of this option, where it has one. */
  public Optional<ConnectKey> connectKey() {
    return Optional.ofNullable(connectKey);
  }

  public ValueType type() {
    return type;
  }

  /** The default as users would write it; null where there is none or it depends (see the doc). */
  public String defaultValue() {
    return defaultValue;
  }

  public Where where() {
    return where;
  }

  /** Whether the value must never be shown. */
  public boolean secret() {
    return type.isSecret();
  }

  /** One sentence or two. */
  public String doc() {
    return doc;
  }

  /** All names, aliases included, in the order of the table. */
  public static Map<String, SfOption> byKey() {
    return BY_KEY;
  }

  /** The option of a name or alias in any case. */
  public static Optional<SfOption> named(String key) {
    return Optional.ofNullable(BY_KEY.get(key.toLowerCase(Locale.ROOT)));
  }

  @Override
  public String toString() {
    return key;
  }
}
