package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

class ConnectStringTest {
  @Test
  void readsKeysAliasesAndEscapes() {
    Map<ConnectKey, String> values =
        ConnectString.parse("ws::addr=a:1;user=bob;pass=x;;y;;;sf_max_bytes=1m;addr=b");
    assertEquals("a:1,b", values.get(ConnectKey.ADDR));
    assertEquals("bob", values.get(ConnectKey.USERNAME));
    assertEquals("x;y;", values.get(ConnectKey.PASSWORD));
    assertEquals("1m", values.get(ConnectKey.SF_MAX_SEGMENT_BYTES));
    assertEquals("off", values.get(ConnectKey.TLS));
    assertEquals("on", ConnectString.parse("wss::addr=a").get(ConnectKey.TLS));
  }

  @Test
  void anEqualsSignMayBeInAValue() {
    assertEquals("a==", ConnectString.parse("ws::addr=a;token=a==;").get(ConnectKey.TOKEN));
  }

  /** Whatever the values are, writing and reading them gives them back. */
  @Test
  void whatIsWrittenIsReadBack() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String letters = "ab;=:,${}'\" é€😀/\\-_.0";
    for (int round = 0; round < 2000; round++) {
      Map<ConnectKey, String> values = new EnumMap<>(ConnectKey.class);
      values.put(ConnectKey.TLS, random.nextBoolean() ? "on" : "off");
      for (ConnectKey key : ConnectKey.values()) {
        if (key != ConnectKey.TLS && random.nextInt(4) == 0) {
          StringBuilder value = new StringBuilder();
          int length = 1 + random.nextInt(8);
          for (int i = 0; i < length; i++) {
            value.append(letters.charAt(random.nextInt(letters.length())));
          }
          values.put(key, value.toString());
        }
      }
      String text = ConnectString.format(values);
      assertEquals(values, ConnectString.parse(text), "seed " + seed + ": " + text);
    }
  }

  /** No text may do anything but parse or be refused with our own exception. */
  @Test
  void anyTextIsReadOrRefused() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> parts =
        List.of("ws", "::", "wss::", "addr", "=", ";", ";;", "h:1", "token", "\n", "sf_dir", "é");
    for (int round = 0; round < 20_000; round++) {
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "ws::" : "");
      int count = random.nextInt(12);
      for (int i = 0; i < count; i++) {
        text.append(parts.get(random.nextInt(parts.size())));
      }
      try {
        ConnectString.parse(text.toString());
      } catch (SfException expected) {
        assertTrue(expected.getMessage().length() > 20, "seed " + seed);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          addr=h                      | no scheme | write ws::addr
          http::addr=h                | 'http' | only ws and wss
          tcp::addr=h                 | 'tcp' | only ws and wss
          udp::addr=h                 | 'udp' | only ws and wss
          WS::addr=h                  | 'WS' | only ws and wss
          ws::addr                    | position 4 | write ws::addr
          ws::addr=h;token            | position 11 | write ws::addr
          ws::=h                      | empty key | write ws::addr
          ws::Addr=h                  | 'Addr' | lower-case
          ws::addr=h;pass word=x      | 'pass word' | lower-case
          ws::addr=h;;token=x         | addr entry 'h…' | host:port
          ws::addr=;                  | addr is empty | leave the key out
          ws::addr=h;token=;          | token is empty | leave the key out
          ws::addr=h;tls=on           | tls=on | scheme
          ws::addr=h;sf_dir=a;sf_dir=b | sf_dir | twice
          ws::addr=h;user=a;username=b | username | set twice
          ws::addr=h;reconect_max_duration_millis=1 | 'reconect_max_duration_millis' | did you mean reconnect_max_duration_millis
          ws::addr=h;sf_dri=/x        | 'sf_dri' | did you mean sf_dir
          ws::addr=h;tokne=x          | 'tokne' | did you mean token
          ws::addr=h;completely_other=x | 'completely_other' | docs/options.md
          ws::addr=h;max_in_flight=4  | 'max_in_flight' | sf_max_total_bytes
          ws::addr=h;sf_fsync=on      | 'sf_fsync' | sf_durability=flush
          ws::addr=h;sf_fsync_every=on | 'sf_fsync_every' | sf_durability=flush
          ws::addr=h;store_and_forward=on | 'store_and_forward' | sf_dir
          ws::addr=h;catchup_cap_gap_min_escalation_window_millis=1 | catchup_cap | write catch_up_cap_gap_min
          ws::addr=h;transaction=on   | 'transaction' | does not write deferred
          ws::addr=h;protocol_version=2 | 'protocol_version' | agreed at connect
          ws::addr=h;tls_ca=x         | 'tls_ca' | tls_roots
          """)
  void refuses(String text, String what, String advice) {
    SfException e = assertThrows(SfException.class, () -> SenderConfig.parse(text));
    assertTrue(e.getMessage().contains(what), e.getMessage());
    assertTrue(e.getMessage().contains(advice), e.getMessage());
  }

  @Test
  void theRestOfASecretIsNotShown() {
    for (String text :
        List.of(
            "ws::addr=h;username=u;password=ab;hunter2=x;",
            "ws::addr=h;username=u;password=ab;Hunter2=x;",
            "ws::addr=h;username=u;password=ab;hunter2",
            "ws::addr=h;;token=hunter2",
            "ws::addr=u:hunter2@h:1")) {
      SfException e = assertThrows(SfException.class, () -> SenderConfig.parse(text));
      assertFalse(e.getMessage().toLowerCase().contains("hunter2"), e.getMessage());
    }
    SfException e =
        assertThrows(SfException.class, () -> ConnectString.parse("ws::addr=h;token=a;sf_dri=/x"));
    assertTrue(e.getMessage().contains("did you mean sf_dir"), e.getMessage());
    assertTrue(e.getMessage().contains("write ;;"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\t", "\0", "\u007f", "\u0085"})
  void refusesControlCharacters(String control) {
    SfException e =
        assertThrows(
            SfException.class, () -> ConnectString.parse("ws::addr=h;token=sec" + control + "x;"));
    assertEquals(ErrorCode.CONFIG_INVALID_VALUE, e.code());
    assertTrue(e.getMessage().contains("token"), e.getMessage());
    assertTrue(e.getMessage().contains("position 20"), e.getMessage());
    assertFalse(e.getMessage().contains("sec"), e.getMessage());
  }

  @Test
  void keysOfOtherClientsAreIgnored() {
    ConnectString string =
        ConnectString.of(
            "ws::addr=h;zone=eu;in_flight_window=4;max_schemas_per_connection=9;failover_x=on;zone=a",
            Set.of());
    assertEquals(
        List.of("zone", "in_flight_window", "max_schemas_per_connection", "failover_x"),
        string.ignored());
    for (String key : RetiredKeys.ignored()) {
      assertEquals(List.of(key), ConnectString.of("ws::addr=h;" + key + "=1", Set.of()).ignored());
    }
  }

  @Test
  void furtherKeysAreHandedOn() {
    ConnectString string = ConnectString.of("ws::addr=h;table=t;;u", Set.of("table"));
    assertEquals(Map.of("table", "t;u"), string.extras());
    SfException e =
        assertThrows(
            SfException.class, () -> ConnectString.of("ws::addr=h;tabel=t", Set.of("table")));
    assertTrue(e.getMessage().contains("did you mean table"), e.getMessage());
  }

  @Test
  void distances() {
    assertEquals(0, EditDistance.between("abc", "abc"));
    assertEquals(1, EditDistance.between("abc", "acb"));
    assertEquals(3, EditDistance.between("", "abc"));
    assertEquals(3, EditDistance.between("kitten", "sitting"));
  }
}
