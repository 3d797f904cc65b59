package org.questdbsf.sender;

import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.ConnectSettings;
import org.questdbsf.net.Credentials;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.TlsSettings;
import org.questdbsf.slot.Durability;
import org.questdbsf.slot.RingSettings;

/**
 * Settings of a sender, checked and typed: what the keys of {@link ConnectKey} say, with the
 * defaults of a {@link ConfigPreset} where they say nothing. Immutable. {@link #toString} shows no
 * secret. Secrets by reference are not resolved here but at each connect.
 */
public final class SenderConfig {
  /** Environment variable with a connect string, as in the other clients. */
  public static final String ENVIRONMENT_VARIABLE = "QDB_CLIENT_CONF";

  private static final long MEBI = 1L << 20;
  private static final long MEMORY_TOTAL_BYTES = 128 * MEBI;
  private static final long DISK_TOTAL_BYTES = 10 * 1024 * MEBI;

  private final ConfigPreset preset;
  private final Map<ConnectKey, String> set;
  private final Map<ConnectKey, Object> values = new EnumMap<>(ConnectKey.class);
  private final List<Endpoint> endpoints;

  private SenderConfig(Map<ConnectKey, String> set, ConfigPreset preset) {
    this.preset = preset;
    EnumMap<ConnectKey, String> copy = new EnumMap<>(ConnectKey.class);
    copy.putAll(set);
    this.set = Collections.unmodifiableMap(copy);
    for (ConnectKey key : ConnectKey.values()) {
      String text = copy.getOrDefault(key, key.defaultText(preset));
      if (text != null) {
        values.put(key, key.type().parse(key.key(), text));
      }
    }
    long total = sfDir().isPresent() ? DISK_TOTAL_BYTES : MEMORY_TOTAL_BYTES;
    values.putIfAbsent(ConnectKey.SF_MAX_TOTAL_BYTES, total);
    if (!values.containsKey(ConnectKey.ADDR)) {
      throw new SfException(
          ErrorCode.CONFIG_MISSING,
          "addr is not set; give the server, for example addr=host:9000.");
    }
    this.endpoints = Addresses.parse(strings(ConnectKey.ADDR));
    ConfigRules.check(this);
  }

  /** Settings of a plain sender from a connect string. */
  public static SenderConfig parse(String connectString) {
    return of(ConnectString.parse(connectString));
  }

  /**
   * Settings of a plain sender from the connect string in {@value #ENVIRONMENT_VARIABLE}.
   *
   * @throws SfException CONFIG_MISSING if the variable is not set
   */
  public static SenderConfig fromEnvironment() {
    String text = System.getenv(ENVIRONMENT_VARIABLE);
    if (text == null || text.isBlank()) {
      throw new SfException(
          ErrorCode.CONFIG_MISSING,
          "environment variable "
              + ENVIRONMENT_VARIABLE
              + " is not set; put a connect string into it, for example ws::addr=host:9000;");
    }
    return parse(text);
  }

  /** Settings of a plain sender from keys. */
  public static SenderConfig of(Map<ConnectKey, String> values) {
    return of(values, ConfigPreset.ENGINE);
  }

  /**
   * Settings from keys, with the defaults of a preset.
   *
   * @throws SfException CONFIG_MISSING, CONFIG_INVALID_VALUE or CONFIG_CONFLICT
   */
  public static SenderConfig of(Map<ConnectKey, String> values, ConfigPreset preset) {
    return new SenderConfig(values, preset);
  }

  /** The same settings with one key changed, checked anew; a value of null unsets it. */
  public SenderConfig with(ConnectKey key, String value) {
    EnumMap<ConnectKey, String> copy = new EnumMap<>(ConnectKey.class);
    copy.putAll(set);
    if (value == null) {
      copy.remove(key);
    } else {
      copy.put(key, value);
    }
    return new SenderConfig(copy, preset);
  }

  public ConfigPreset preset() {
    return preset;
  }

  /** The keys that were set, as text, secrets included. */
  public Map<ConnectKey, String> asMap() {
    return set;
  }

  /** Whether a key was set rather than taken from the defaults. */
  public boolean isSet(ConnectKey key) {
    return set.containsKey(key);
  }

  // Where

  /** Servers in the order given. */
  public List<Endpoint> endpoints() {
    return endpoints;
  }

  public boolean tls() {
    return bool(ConnectKey.TLS);
  }

  public boolean tlsVerify() {
    return string(ConnectKey.TLS_VERIFY).equals("on");
  }

  /** User of basic authentication; empty without, or with a token. */
  public Optional<String> username() {
    return optional(ConnectKey.USERNAME);
  }

  /** Credentials that resolve their references at each call. */
  public Credentials credentials() {
    SecretRef token = (SecretRef) values.get(ConnectKey.TOKEN);
    if (token != null) {
      return new HeaderCredentials(null, token);
    }
    SecretRef password = (SecretRef) values.get(ConnectKey.PASSWORD);
    return username()
        .<Credentials>map(user -> new HeaderCredentials(user, password))
        .orElse(Credentials.NONE);
  }

  /** How the server's certificate is judged; of no use without {@link #tls}. */
  public TlsSettings tlsSettings() {
    SecretRef password = (SecretRef) values.get(ConnectKey.TLS_ROOTS_PASSWORD);
    return new TlsSettings(
        tlsVerify(),
        optional(ConnectKey.TLS_ROOTS).map(Path::of).orElse(null),
        () -> password == null ? null : password.resolve().toCharArray());
  }

  /** What a connection needs to know. */
  public ConnectSettings connectSettings() {
    return new ConnectSettings(
        endpoints,
        tls(),
        tlsSettings(),
        credentials(),
        connectTimeoutMillis(),
        authTimeoutMillis(),
        requestDurableAck(),
        string(ConnectKey.CLIENT_ID));
  }

  // Connection

  public int connectTimeoutMillis() {
    return (int) number(ConnectKey.CONNECT_TIMEOUT);
  }

  public int authTimeoutMillis() {
    return (int) number(ConnectKey.AUTH_TIMEOUT_MS);
  }

  public long ackTimeoutMillis() {
    return number(ConnectKey.ACK_TIMEOUT_MILLIS);
  }

  public long reconnectInitialBackoffMillis() {
    return number(ConnectKey.RECONNECT_INITIAL_BACKOFF_MILLIS);
  }

  public long reconnectMaxBackoffMillis() {
    return number(ConnectKey.RECONNECT_MAX_BACKOFF_MILLIS);
  }

  /** Budget of one outage; 0 means none. */
  public long reconnectMaxDurationMillis() {
    return number(ConnectKey.RECONNECT_MAX_DURATION_MILLIS);
  }

  public InitialConnect initialConnect() {
    return InitialConnect.valueOf(upper(ConnectKey.INITIAL_CONNECT_RETRY));
  }

  public boolean requestDurableAck() {
    return bool(ConnectKey.REQUEST_DURABLE_ACK);
  }

  /** 0 or less: no keepalive. */
  public long durableAckKeepaliveIntervalMillis() {
    return number(ConnectKey.DURABLE_ACK_KEEPALIVE_INTERVAL_MILLIS);
  }

  // Flushing

  public boolean autoFlush() {
    return bool(ConnectKey.AUTO_FLUSH);
  }

  /** 0: not by rows. */
  public int autoFlushRows() {
    return (int) number(ConnectKey.AUTO_FLUSH_ROWS);
  }

  /** 0: not by bytes. */
  public long autoFlushBytes() {
    return number(ConnectKey.AUTO_FLUSH_BYTES);
  }

  /** 0: not by time. */
  public long autoFlushIntervalMillis() {
    return number(ConnectKey.AUTO_FLUSH_INTERVAL);
  }

  public long initBufSize() {
    return number(ConnectKey.INIT_BUF_SIZE);
  }

  public long maxBufSize() {
    return number(ConnectKey.MAX_BUF_SIZE);
  }

  public int maxNameLen() {
    return (int) number(ConnectKey.MAX_NAME_LEN);
  }

  public int frameRows() {
    return (int) number(ConnectKey.FRAME_ROWS);
  }

  public long frameBytes() {
    return number(ConnectKey.FRAME_BYTES);
  }

  public int maxSymbolsPerSlot() {
    return (int) number(ConnectKey.MAX_SYMBOLS_PER_SLOT);
  }

  /** 0 or less: close() does not wait. */
  public long closeFlushTimeoutMillis() {
    return number(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS);
  }

  // Store and forward

  /** Directory of slots; empty in memory mode. */
  public Optional<Path> sfDir() {
    return optional(ConnectKey.SF_DIR).map(Path::of);
  }

  public String senderId() {
    return string(ConnectKey.SENDER_ID);
  }

  public Optional<String> targetId() {
    return optional(ConnectKey.TARGET_ID);
  }

  public long segmentBytes() {
    return number(ConnectKey.SF_MAX_SEGMENT_BYTES);
  }

  public long totalBytes() {
    return number(ConnectKey.SF_MAX_TOTAL_BYTES);
  }

  public long minFreeBytes() {
    return number(ConnectKey.SF_MIN_FREE_BYTES);
  }

  public Durability durability() {
    return Durability.valueOf(upper(ConnectKey.SF_DURABILITY));
  }

  /** What a ring needs to know. */
  public RingSettings ringSettings() {
    return new RingSettings(segmentBytes(), durability(), syncIntervalMillis(), minFreeBytes());
  }

  public long syncIntervalMillis() {
    return number(ConnectKey.SF_SYNC_INTERVAL_MILLIS);
  }

  public long appendDeadlineMillis() {
    return number(ConnectKey.SF_APPEND_DEADLINE_MILLIS);
  }

  public DrainOrphans drainOrphans() {
    return DrainOrphans.valueOf(upper(ConnectKey.DRAIN_ORPHANS));
  }

  public int maxBackgroundDrainers() {
    return (int) number(ConnectKey.MAX_BACKGROUND_DRAINERS);
  }

  // Rejections

  /** Policy asked for by one of the {@code on_*_error} keys; empty when unset or auto. */
  public Optional<Policy> errorPolicy(ConnectKey key) {
    return switch (string(key)) {
      case "halt" -> Optional.of(Policy.HALT);
      case "drop" -> Optional.of(Policy.DROP);
      case "retry" -> Optional.of(Policy.RETRY);
      case "retriable_other" -> Optional.of(Policy.RETRY_OTHER);
      default -> Optional.empty();
    };
  }

  public int errorInboxCapacity() {
    return (int) number(ConnectKey.ERROR_INBOX_CAPACITY);
  }

  public int maxFrameRejections() {
    return (int) number(ConnectKey.MAX_FRAME_REJECTIONS);
  }

  public long poisonMinEscalationWindowMillis() {
    return number(ConnectKey.POISON_MIN_ESCALATION_WINDOW_MILLIS);
  }

  public long catchUpCapGapMinEscalationWindowMillis() {
    return number(ConnectKey.CATCH_UP_CAP_GAP_MIN_ESCALATION_WINDOW_MILLIS);
  }

  Object value(ConnectKey key) {
    return values.get(key);
  }

  private boolean bool(ConnectKey key) {
    return (Boolean) values.get(key);
  }

  private long number(ConnectKey key) {
    return ((Number) values.get(key)).longValue();
  }

  private String string(ConnectKey key) {
    return (String) values.get(key);
  }

  private String upper(ConnectKey key) {
    return string(key).toUpperCase(Locale.ROOT);
  }

  private Optional<String> optional(ConnectKey key) {
    return Optional.ofNullable(string(key));
  }

  @SuppressWarnings("unchecked")
  private List<String> strings(ConnectKey key) {
    return (List<String>) values.get(key);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SenderConfig config
        && config.preset == preset
        && config.set.equals(set);
  }

  @Override
  public int hashCode() {
    return set.hashCode() * 31 + preset.hashCode();
  }

  /** The settings that were set, as a connect string without secrets. */
  @Override
  public String toString() {
    return ConnectString.redacted(set);
  }
}
