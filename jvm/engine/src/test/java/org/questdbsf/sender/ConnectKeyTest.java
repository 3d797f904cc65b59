package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Goes over the table of keys: defaults, ends of ranges, words for bad values. */
class ConnectKeyTest {
  /** Keys of the client spec, section 4, under the spec's names. */
  private static final List<String> SPEC_KEYS =
      List.of(
          "sf_dir sender_id sf_max_bytes sf_max_total_bytes sf_durability sf_append_deadline_millis"
              + " drain_orphans max_background_drainers reconnect_max_duration_millis"
              + " reconnect_initial_backoff_millis reconnect_max_backoff_millis"
              + " initial_connect_retry close_flush_timeout_millis request_durable_ack"
              + " durable_ack_keepalive_interval_millis error_inbox_capacity on_server_error"
              + " on_schema_error on_parse_error on_internal_error on_security_error"
              + " on_write_error addr username password token tls_verify tls_roots"
              + " tls_roots_password auto_flush auto_flush_rows auto_flush_bytes"
              + " auto_flush_interval init_buf_size max_buf_size max_name_len",
          // today's protocol
          "user pass auth_timeout_ms connect_timeout sf_max_segment_bytes sf_sync_interval_millis"
              + " catch_up_cap_gap_min_escalation_window_millis max_frame_rejections"
              + " poison_min_escalation_window_millis client_id");

  /** Spelled out so that a changed default is a change of this file as well. */
  private static final Map<String, String> DEFAULTS =
      Map.ofEntries(
          Map.entry("sender_id", "default"),
          Map.entry("sf_max_segment_bytes", "4m"),
          Map.entry("sf_durability", "memory"),
          Map.entry("sf_append_deadline_millis", "30000"),
          Map.entry("drain_orphans", "off"),
          Map.entry("max_background_drainers", "4"),
          Map.entry("reconnect_max_duration_millis", "300000"),
          Map.entry("reconnect_initial_backoff_millis", "100"),
          Map.entry("reconnect_max_backoff_millis", "5000"),
          Map.entry("initial_connect_retry", "off"),
          Map.entry("close_flush_timeout_millis", "5000"),
          Map.entry("request_durable_ack", "off"),
          Map.entry("durable_ack_keepalive_interval_millis", "200"),
          Map.entry("error_inbox_capacity", "256"),
          Map.entry("tls_verify", "on"),
          Map.entry("auto_flush", "on"),
          Map.entry("auto_flush_rows", "1000"),
          Map.entry("auto_flush_bytes", "off"),
          Map.entry("auto_flush_interval", "100"),
          Map.entry("init_buf_size", "64k"),
          Map.entry("max_buf_size", "100m"),
          Map.entry("max_name_len", "127"),
          Map.entry("auth_timeout_ms", "15000"),
          Map.entry("sf_sync_interval_millis", "5000"),
          Map.entry("max_frame_rejections", "4"),
          Map.entry("poison_min_escalation_window_millis", "5000"),
          Map.entry("catch_up_cap_gap_min_escalation_window_millis", "300000"));

  @Test
  void everyKeyOfTheSpecIsKnown() {
    for (String line : SPEC_KEYS) {
      for (String key : line.split(" ")) {
        assertTrue(ConnectKey.named(key).isPresent(), key);
      }
    }
  }

  @Test
  void namesAreUnique() {
    Set<String> seen = new HashSet<>();
    for (ConnectKey key : ConnectKey.values()) {
      assertTrue(seen.add(key.key()), key.key());
      key.aliases().forEach(alias -> assertTrue(seen.add(alias), alias));
    }
    RetiredKeys.ignored().forEach(key -> assertTrue(seen.add(key), key));
    RetiredKeys.removed().forEach(key -> assertTrue(seen.add(key), key));
  }

  @Test
  void defaultsOfThePlainSenderAreTheSpecs() {
    DEFAULTS.forEach(
        (key, value) ->
            assertEquals(
                value, ConnectKey.named(key).orElseThrow().defaultText(ConfigPreset.ENGINE), key));
  }

  @Test
  void defaultsOfTheSinkDifferWhereTheyShould() {
    Map<ConnectKey, String> differ =
        Map.of(
            ConnectKey.SF_DURABILITY, "flush",
            ConnectKey.INITIAL_CONNECT_RETRY, "async",
            ConnectKey.RECONNECT_MAX_DURATION_MILLIS, "0",
            ConnectKey.DRAIN_ORPHANS, "own",
            ConnectKey.POISON_MIN_ESCALATION_WINDOW_MILLIS, "300000");
    for (ConnectKey key : ConnectKey.values()) {
      String engine = key.defaultText(ConfigPreset.ENGINE);
      assertEquals(differ.getOrDefault(key, engine), key.defaultText(ConfigPreset.SINK), key.key());
    }
  }

  @TestFactory
  Stream<DynamicTest> eachKey() {
    return Stream.of(ConnectKey.values())
        .map(key -> DynamicTest.dynamicTest(key.key(), () -> check(key)));
  }

  private static void check(ConnectKey key) {
    assertTrue(key.doc().endsWith("."), "doc is a sentence");
    ValueType type = key.type();
    for (ConfigPreset preset : ConfigPreset.values()) {
      if (key.defaultText(preset) != null) {
        type.parse(key.key(), key.defaultText(preset));
      }
    }
    assertRefused(key, "");
    switch (type.kind()) {
      case BOOL -> {
        assertEquals(true, type.parse("k", "true"));
        assertEquals(false, type.parse("k", "off"));
        assertRefused(key, "yes");
        assertRefused(key, "ON");
      }
      case ENUM -> {
        for (String word : type.accepted()) {
          assertTrue(type.accepted().contains(type.parse("k", word)), word);
        }
        assertRefused(key, "nonsense");
        assertRefused(key, type.accepted().get(0) + " ");
      }
      case INT, MILLIS, SIZE -> {
        assertEquals(type.min(), ((Number) type.parse("k", "" + type.min())).longValue());
        assertEquals(type.max(), ((Number) type.parse("k", "" + type.max())).longValue());
        assertRefused(key, "" + (type.min() - 1));
        assertRefused(key, type.max() == Long.MAX_VALUE ? "9t9" : "" + (type.max() + 1));
        assertRefused(key, "12x");
        assertRefused(key, "99999999999999999999");
      }
      case INT_OR_OFF, SIZE_OR_OFF, MILLIS_OR_OFF -> {
        assertEquals(0, ((Number) type.parse("k", "off")).intValue());
        assertEquals(7, ((Number) type.parse("k", "7")).intValue());
        assertRefused(key, "-1");
        assertRefused(key, "on");
      }
      case LIST -> {
        assertEquals(List.of("a", "b"), type.parse("k", "a, b"));
        assertRefused(key, "a,,b");
        assertRefused(key, "a,");
      }
      case SECRET -> {
        assertTrue(key.isSecret());
        assertFalse(type.parse("k", "hunter2").toString().contains("hunter2"));
        assertRefused(key, "${vault:x}");
      }
      case STRING, PATH -> assertEquals("x y", type.parse("k", "x y"));
      default -> throw new AssertionError("untested kind " + type.kind());
    }
  }

  private static void assertRefused(ConnectKey key, String value) {
    SfException e = assertThrows(SfException.class, () -> key.type().parse(key.key(), value));
    assertEquals(ErrorCode.CONFIG_INVALID_VALUE, e.code());
    assertTrue(e.getMessage().contains(key.key()), e.getMessage());
    assertTrue(e.getMessage().contains("give") || e.getMessage().contains("remove"), e.toString());
    if (!key.isSecret() && !value.isEmpty()) {
      assertTrue(e.getMessage().contains(value), e.getMessage());
    }
  }

  @Test
  void sizesAreBinary() {
    ValueType size = ValueType.size(0);
    assertEquals(65536L, size.parse("k", "64k"));
    assertEquals(65536L, size.parse("k", "64KB"));
    assertEquals(3L << 20, size.parse("k", "3M"));
    assertEquals(10L << 30, size.parse("k", "10g"));
    assertEquals(2L << 40, size.parse("k", "2tb"));
    assertEquals(512L, size.parse("k", "512"));
    for (String bad : List.of("k", "b", "1.5m", "1 m", "9000000000t", "-1k", "1mm", "0x10")) {
      assertThrows(SfException.class, () -> size.parse("k", bad), bad);
    }
  }
}
