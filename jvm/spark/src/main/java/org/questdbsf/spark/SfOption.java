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
      "A connect string, ws::... or wss::...; may hold every other option as a key."),
  ADDR(
      ConnectKey.ADDR,
      "Servers as host[:port]; port 9000 where none is given. Required, here or in"
          + " connect_string."),
  TLS(ConnectKey.TLS, "Whether to use TLS; the scheme wss of a connect string says so too."),
  TLS_VERIFY(ConnectKey.TLS_VERIFY, "Whether the server's certificate and host name are checked."),
  TLS_ROOTS(
      ConnectKey.TLS_ROOTS,
      "File of trusted certificates, on every executor: PEM, PKCS12 or JKS. Default: those of the"
          + " Java installation."),
  TLS_ROOTS_PASSWORD(ConnectKey.TLS_ROOTS_PASSWORD, "Password of the tls_roots file."),
  USERNAME(ConnectKey.USERNAME, "User for basic authentication, with password."),
  PASSWORD(ConnectKey.PASSWORD, "Password for basic authentication, with username."),
  TOKEN(ConnectKey.TOKEN, "Bearer token, instead of username and password."),

  // What
  TABLE(of(STRING), null, "Table that all rows go to. Either this or table_column is required."),
  TABLE_COLUMN(
      of(STRING), null, "String column that names each row's table; it is not itself written."),
  TIMESTAMP(
      of(STRING),
      null,
      "Column of the designated timestamp: Timestamp, TimestampNTZ, Date, or Long with"
          + " timestamp_unit. Required on a stream."),
  SERVER_TIMESTAMP(
      bool(),
      "off",
      "The server sets the designated timestamp. A row that is sent twice is then two rows, which"
          + " no keys can tell apart."),
  TIMESTAMP_UNIT(words("s", "ms", "us", "ns"), "us", "Unit of Long columns that become times."),
  SYMBOLS(of(LIST), null, "String columns written as SYMBOL instead of VARCHAR."),
  COLUMN_TYPES(
      of(STRING),
      null,
      "Types by column, as in \"dev UUID, ip IPV4, h LONG256, g GEOHASH(6c)\". This comes before"
          + " questdb.type in a column's metadata, that before the type in the live table, and that"
          + " before the default."),
  NULLS_BOOLEAN(words("error", "zero"), "error", nulls("BOOLEAN", "false")),
  NULLS_BYTE(words("error", "zero"), "error", nulls("BYTE", "0")),
  NULLS_SHORT(words("error", "zero"), "error", nulls("SHORT", "0")),
  NULLS_CHAR(words("error", "zero"), "error", nulls("CHAR", "0")),
  SENTINEL_VALUES(
      words("error", "null"),
      "error",
      "The values that QuestDB reads as null (smallest Int and Long, infinities, address 0.0.0.0,"
          + " the CHAR U+0000): refuse the row, or write null."),
  UNSUPPORTED(
      words("error", "skip", "json"),
      "error",
      "Columns whose type has no counterpart (struct, map, variant, interval, other arrays):"
          + " refuse the query, leave them out, or write JSON text."),
  NTZ_ZONE(
      of(STRING),
      "UTC",
      "Zone of TimestampNTZ wall clocks. A time that the zone skips is refused; of a time that it"
          + " has twice, the earlier instant is taken."),
  DECIMALS_DOUBLE(
      of(LIST),
      null,
      "Decimal columns written as DOUBLE, which may lose digits. Only those named here."),

  // Tables
  CREATE_TABLE(
      bool(),
      "off",
      "Create the table where it is not there, with partition_by, ttl and dedup_keys, before the"
          + " first row is sent."),
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
      "DEDUP UPSERT KEYS of a created table; the designated timestamp is added where it is"
          + " missing."),
  ON_MISSING_TABLE(
      words("fail", "create"),
      null,
      "What to do where the table is not there, also in mid-stream, and where it was dropped under"
          + " rows on the way (the server makes it anew, without keys): fail ends the query;"
          + " create makes it as asked for, or enables dedup_keys where the server was quicker."
          + " Default: create with create_table=on, else fail."),
  REQUIRE_DEDUP(bool(), "off", "Refuse a table without DEDUP UPSERT KEYS."),
  UPDATE_KEYS(
      of(LIST),
      null,
      Where.STREAM,
      "Required by outputMode(\"update\"), where it must equal the table's DEDUP UPSERT KEYS."),

  // Delivery
  COMMIT_ON(
      words("ack", "store", "durable"),
      "ack",
      "When a task commits. ack: the server acknowledged its rows. store: they are in a slot below"
          + " sf_dir, forced to disk. durable: the server acknowledged them as durable. With sf_dir"
          + " it must be said."),
  SF_DIR(
      ConnectKey.SF_DIR,
      "Directory of the slots, on a local disk of each executor. For commit_on=store, and to send"
          + " what an earlier run left there."),
  SF_DIR_IS_PERSISTENT(
      bool(),
      "off",
      Where.STORE,
      "You vouch that sf_dir outlives the executor. commit_on=store needs it with dynamic"
          + " allocation, on Kubernetes and on YARN."),
  SENDER_ID(
      ConnectKey.SENDER_ID,
      of(STRING),
      null,
      Where.SF_DIR,
      "Prefix of the slots' names: letters, digits, _ and -. Default: spark- and the query's id."
          + " A batch write needs it, except with commit_on=ack and drain_orphans=off."),
  TARGET_ID(
      ConnectKey.TARGET_ID,
      Where.SF_DIR,
      "Identity of the database. Slots of the same target_id are sent also when the server's"
          + " addresses have changed since."),
  SF_DURABILITY(
      ConnectKey.SF_DURABILITY,
      words("memory", "periodic", "flush"),
      "flush",
      Where.STORE,
      "When commit_on=store forces rows to disk. flush: at each task commit. periodic: every"
          + " sf_sync_interval_millis. memory: never; rows survive the process, not the host."),
  SF_SYNC_INTERVAL_MILLIS(
      ConnectKey.SF_SYNC_INTERVAL_MILLIS,
      Where.STORE,
      "Time between two forces with sf_durability=periodic."),
  SF_MAX_TOTAL_BYTES(
      ConnectKey.SF_MAX_TOTAL_BYTES,
      "Most bytes that wait for acknowledgement in one executor JVM, all lanes together. Default:"
          + " 128m, with commit_on=store 10g."),
  SF_MAX_SEGMENT_BYTES(
      ConnectKey.SF_MAX_SEGMENT_BYTES,
      ConnectKey.SF_MAX_SEGMENT_BYTES.type(),
      null,
      "Bytes of one segment. Default: as much as lets two segments for each lane fit half of"
          + " sf_max_total_bytes, at most 4m."),
  SF_MIN_FREE_BYTES(
      ConnectKey.SF_MIN_FREE_BYTES,
      Where.STORE,
      "Free space on the disk below which no segment is made."),
  SF_FORMAT(ConnectKey.SF_FORMAT, words("1"), "1", Where.STORE, "Format of the slots."),
  DRAIN_ORPHANS(
      ConnectKey.DRAIN_ORPHANS,
      words("off", "own", "all"),
      "own",
      Where.SF_DIR,
      "Slots of ended processes that this one sends. off: none. own: those of the same sender_id."
          + " all: all in sf_dir. Only ever those for the same server."),
  MAX_LANES(
      ints(1, 4096),
      null,
      "Most connections of one executor. Default: the number of tasks it runs at once."),
  DRAIN_ON_STOP_MILLIS(
      ValueType.millis(0),
      "5000",
      "How long an ending executor goes on sending what waits in its slots; one deadline for all"
          + " lanes."),
  FRAME_ROWS(ConnectKey.FRAME_ROWS, "Most rows in a frame."),
  FRAME_BYTES(
      ConnectKey.FRAME_BYTES,
      "Most bytes in a frame; never more than 90 % of what the server takes, nor than 120k until it"
          + " has said what it takes."),

  // Rejections
  ON_SCHEMA_ERROR(ConnectKey.ON_SCHEMA_ERROR, false, "its rows do not fit the table"),
  ON_PARSE_ERROR(ConnectKey.ON_PARSE_ERROR, false, "it cannot be read"),
  ON_SECURITY_ERROR(ConnectKey.ON_SECURITY_ERROR, false, "the user may not write"),
  ON_WRITE_ERROR(ConnectKey.ON_WRITE_ERROR, true, "the table did not take the rows"),
  ON_INTERNAL_ERROR(ConnectKey.ON_INTERNAL_ERROR, true, "of a fault inside it"),
  ON_UNKNOWN_ERROR(ConnectKey.ON_UNKNOWN_ERROR, true, "of something that no category covers"),
  ON_SERVER_ERROR(
      ConnectKey.ON_SERVER_ERROR,
      words("halt", "drop", "retry"),
      null,
      "What to do in every category whose own option is not set."),
  ON_ROW_ERROR(
      words("fail", "dead_letter"),
      "fail",
      "A row with a value that its column cannot hold. fail: fail the task. dead_letter: write the"
          + " row to dead_letter_dir and go on."),
  DEAD_LETTER_DIR(
      of(STRING),
      null,
      "Directory, any Hadoop path, for what is dropped. Required by drop and dead_letter."),
  MAX_DEAD_LETTER_ROWS(
      ints(1, Integer.MAX_VALUE),
      "10000",
      "Most rows that one task may write to dead_letter_dir before it fails."),
  MAX_FRAME_REJECTIONS(
      ConnectKey.MAX_FRAME_REJECTIONS,
      "How often a frame must be refused, besides poison_min_escalation_window_millis, before the"
          + " lane gives it up as poison."),
  POISON_MIN_ESCALATION_WINDOW_MILLIS(
      ConnectKey.POISON_MIN_ESCALATION_WINDOW_MILLIS,
      "For how long a frame must be refused, besides max_frame_rejections, before the lane gives it"
          + " up as poison."),

  // Connection
  CONNECT_TIMEOUT(ConnectKey.CONNECT_TIMEOUT, "Longest wait for a TCP connection."),
  AUTH_TIMEOUT_MS(ConnectKey.AUTH_TIMEOUT_MS, "Longest wait for TLS and the WebSocket upgrade."),
  ACK_TIMEOUT_MILLIS(
      ConnectKey.ACK_TIMEOUT_MILLIS,
      "Time without an acknowledgement while rows are unacknowledged, whatever else the server"
          + " says, after which the connection is given up and another begun."),
  RECONNECT_INITIAL_BACKOFF_MILLIS(
      ConnectKey.RECONNECT_INITIAL_BACKOFF_MILLIS, "First pause after all servers failed."),
  RECONNECT_MAX_BACKOFF_MILLIS(
      ConnectKey.RECONNECT_MAX_BACKOFF_MILLIS, "Longest pause after all servers failed."),
  RECONNECT_MAX_DURATION_MILLIS(
      ConnectKey.RECONNECT_MAX_DURATION_MILLIS,
      ConnectKey.RECONNECT_MAX_DURATION_MILLIS.type(),
      null,
      "Longest outage, and longest wait for a refusal to pass, before it is an error; 0: no limit."
          + " Default: 0 on a stream, 300000 in a batch write."),
  DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS(
      ConnectKey.DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS,
      "With commit_on=durable, pause between PINGs that ask for durable acknowledgements; 0:"
          + " none."),
  ERROR_INBOX_CAPACITY(
      ConnectKey.ERROR_INBOX_CAPACITY,
      "Most errors that are kept until they are reported; the oldest go first."),
  MAX_SYMBOLS_PER_SLOT(
      ConnectKey.MAX_SYMBOLS_PER_SLOT,
      "Distinct symbol values after which a lane begins a new connection or slot."),
  MAX_NAME_LEN(ConnectKey.MAX_NAME_LEN, "Longest table and column name, in bytes of UTF-8.");

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

  private static final String HALT_OR_DROP =
      " halt: fail the query with the server's words. drop: write the frame to dead_letter_dir and"
          + " go on.";
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

  /** A policy for refused frames; some categories may pass, and are retried by default. */
  SfOption(ConnectKey connectKey, boolean retried, String why) {
    this(
        connectKey,
        retried ? words("retry", "halt", "drop") : words("halt", "drop"),
        retried ? "retry" : "halt",
        refused(retried, why));
  }

  SfOption(ConnectKey connectKey, String doc) {
    this(connectKey, Where.ANY, doc);
  }

  SfOption(ConnectKey connectKey, Where where, String doc) {
    this(connectKey, connectKey.type(), connectKey.defaultText(ConfigPreset.SINK), where, doc);
  }

  SfOption(ValueType type, String defaultValue, String doc) {
    this(null, type, defaultValue, Where.ANY, doc);
  }

  SfOption(ConnectKey connectKey, ValueType type, String defaultValue, String doc) {
    this(connectKey, type, defaultValue, Where.ANY, doc);
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

  private static String refused(boolean retried, String why) {
    return "The server refuses a frame because "
        + why
        + (retried ? ". retry: send it again, paced, while it may be taken." : ".")
        + HALT_OR_DROP;
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
