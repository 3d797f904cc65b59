package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Each key of the table changes what a sender works with, in each preset, or is refused. */
class KeysReachTest {
  /** A value of each key that is nobody's default. */
  private static final Map<ConnectKey, String> OTHER = new EnumMap<>(ConnectKey.class);

  /** What else must be set for it. */
  private static final Map<ConnectKey, String> WITH = new EnumMap<>(ConnectKey.class);

  /** The one other value is of a format that this version does not write. */
  private static final Set<ConnectKey> REFUSED = EnumSet.of(ConnectKey.SF_FORMAT);

  static {
    other("addr", "other:1");
    other("tls", "on");
    other("tls_verify", "unsafe_off", "tls=on;");
    other("tls_roots", "/roots.pem", "tls=on;");
    other("tls_roots_password", "secret", "tls=on;tls_roots=/roots.pem;");
    other("username", "me", "password=p;");
    other("password", "p", "username=me;");
    other("token", "t");
    other("client_id", "me");
    for (String size : List.of("init_buf_size", "frame_bytes", "sf_min_free_bytes")) {
      other(size, "12345");
    }
    other("max_buf_size", "200m");
    other("auto_flush_bytes", "12345");
    other("sf_max_segment_bytes", "1m");
    other("sf_max_total_bytes", "12m");
    other("auto_flush", "off");
    other("request_durable_ack", "on");
    other("initial_connect_retry", "on");
    other("sf_dir", "/sf");
    other("sender_id", "me");
    other("target_id", "db");
    other("sf_durability", "periodic", "sf_dir=/sf;");
    other("sf_sync_interval_millis", "7", "sf_dir=/sf;sf_durability=periodic;");
    other("sf_format", "2");
    other("drain_orphans", "all", "sf_dir=/sf;");
    other("max_name_len", "100");
    other("reconnect_max_backoff_millis", "77", "reconnect_initial_backoff_millis=1;");
    for (ConnectKey key : ConnectKey.values()) {
      if (key.key().matches("on_.*_error")) {
        OTHER.put(key, "retriable_other");
      } else if (!OTHER.containsKey(key)) {
        OTHER.put(key, "77"); // a number that is nobody's default
      }
    }
  }

  private static void other(String key, String value, String... with) {
    OTHER.put(ConnectKey.named(key).orElseThrow(), value);
    if (with.length > 0) {
      WITH.put(ConnectKey.named(key).orElseThrow(), with[0]);
    }
  }

  record Case(ConnectKey key, ConfigPreset preset) {}

  static Stream<Case> cases() {
    return Arrays.stream(ConnectKey.values())
        .filter(key -> !REFUSED.contains(key))
        .flatMap(key -> Arrays.stream(ConfigPreset.values()).map(preset -> new Case(key, preset)));
  }

  private static SenderConfig config(ConfigPreset preset, String keys) {
    Map<ConnectKey, String> values = new EnumMap<>(ConnectKey.class);
    values.put(ConnectKey.ADDR, "h:9000");
    values.putAll(
        ConnectString.parse((keys.contains("tls=on") ? "wss" : "ws") + "::addr=h:9000;" + keys));
    return SenderConfig.of(values, preset);
  }

  /** Everything that a sender can ask of its settings. */
  private static Map<String, Object> seen(SenderConfig config) throws Exception {
    Map<String, Object> seen = new TreeMap<>();
    for (Method method : SenderConfig.class.getMethods()) {
      boolean asks = method.getDeclaringClass() == SenderConfig.class;
      boolean aboutKeys = Set.of("asMap", "toString", "hashCode").contains(method.getName());
      if (asks && !aboutKeys && method.getParameterCount() == 0 && !isStatic(method)) {
        seen.put(method.getName(), method.invoke(config));
      }
    }
    // Objects that cannot be compared say what they make of the settings.
    seen.put("credentials", config.credentials().authorization());
    seen.put(
        "tlsSettings", List.of(config.tlsVerify(), String.valueOf(config.tlsSettings().roots())));
    char[] password = config.tlsSettings().rootsPassword().get();
    seen.put("rootsPassword", password == null ? "" : new String(password));
    seen.put("connectSettings", config.connectSettings().clientId());
    for (ConnectKey key : ConnectKey.values()) {
      if (key.key().matches("on_.*_error")) {
        seen.put(key.key(), config.errorPolicy(key));
      }
    }
    return seen;
  }

  private static boolean isStatic(Method method) {
    return Modifier.isStatic(method.getModifiers());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aKeyChangesWhatASenderWorksWith(Case one) throws Exception {
    String with = WITH.getOrDefault(one.key, "");
    String set = one.key.key() + "=" + OTHER.get(one.key) + ";";
    boolean half = one.key == ConnectKey.USERNAME || one.key == ConnectKey.PASSWORD;
    SenderConfig before = config(one.preset, half ? "" : with);
    String keys = one.key == ConnectKey.ADDR ? "" : with + set;
    SenderConfig after =
        one.key == ConnectKey.ADDR
            ? before.with(ConnectKey.ADDR, OTHER.get(one.key))
            : config(one.preset, keys);
    assertNotEquals(before.value(one.key), after.value(one.key), "the test must change it");
    assertNotEquals(seen(before), seen(after), one.key + " is set, and nothing asks for it");
  }

  @Test
  void whatIsNotWrittenYetIsRefused() {
    for (ConnectKey key : REFUSED) {
      for (ConfigPreset preset : ConfigPreset.values()) {
        SfException e =
            assertThrows(
                SfException.class, () -> config(preset, key.key() + "=" + OTHER.get(key) + ";"));
        assertEquals(ErrorCode.CONFIG_INVALID_VALUE, e.code());
      }
    }
  }
}
