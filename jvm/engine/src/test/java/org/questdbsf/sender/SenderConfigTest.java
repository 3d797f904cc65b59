package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Credentials;
import org.questdbsf.net.Endpoint;
import org.questdbsf.slot.Durability;

class SenderConfigTest {
  private static final String SECRET = "hunter2";

  @Test
  void defaultsInMemory() {
    SenderConfig c = SenderConfig.parse("ws::addr=h;");
    assertEquals(List.of(new Endpoint("h", 9000)), c.endpoints());
    assertFalse(c.tls());
    assertTrue(c.sfDir().isEmpty());
    assertEquals(128L << 20, c.totalBytes());
    assertEquals(4L << 20, c.segmentBytes());
    assertEquals(Durability.MEMORY, c.durability());
    assertEquals(DrainOrphans.OFF, c.drainOrphans());
    assertEquals(InitialConnect.OFF, c.initialConnect());
    assertEquals(300_000, c.reconnectMaxDurationMillis());
    assertEquals(1000, c.autoFlushRows());
    assertEquals(0, c.autoFlushBytes());
    assertEquals(Optional.empty(), c.errorPolicy(ConnectKey.ON_SCHEMA_ERROR));
    assertNull(c.credentials().authorization());
  }

  @Test
  void defaultsOnDiskAndOfTheSink() {
    Map<ConnectKey, String> keys =
        Map.of(ConnectKey.ADDR, "h", ConnectKey.SF_DIR, "/tmp/slots", ConnectKey.TLS, "on");
    assertEquals(10L << 30, SenderConfig.of(keys).totalBytes());
    SenderConfig sink = SenderConfig.of(keys, ConfigPreset.SINK);
    assertEquals(Durability.FLUSH, sink.durability());
    assertEquals(Durability.FLUSH, sink.ringSettings().durability());
    assertEquals(InitialConnect.ASYNC, sink.initialConnect());
    assertEquals(0, sink.reconnectMaxDurationMillis());
    assertEquals(DrainOrphans.OWN, sink.drainOrphans());
    assertTrue(sink.connectSettings().tls());
  }

  @Test
  void valuesAreTyped() {
    SenderConfig c =
        SenderConfig.parse(
            "wss::addr=a:1,[::1]:2,[fe80::1];sf_dir=/d;sender_id=s-1;sf_max_total_bytes=64m;"
                + "sf_max_bytes=1m;sf_durability=periodic;sf_sync_interval_millis=9;drain_orphans=on;"
                + "initial_connect_retry=sync;on_write_error=retriable;on_schema_error=terminal;"
                + "on_parse_error=drop;on_server_error=retriable_other;auto_flush_rows=off;"
                + "tls_roots=/r.pem;tls_roots_password=hunter2;target_id=db1;connect_timeout=7");
    assertEquals(
        List.of(new Endpoint("a", 1), new Endpoint("::1", 2), new Endpoint("fe80::1", 9000)),
        c.endpoints());
    assertEquals("[::1]:2", c.endpoints().get(1).toString());
    assertEquals(Optional.of(Path.of("/d")), c.sfDir());
    assertEquals(64L << 20, c.totalBytes());
    assertEquals(1L << 20, c.segmentBytes());
    assertEquals(9, c.syncIntervalMillis());
    assertEquals(DrainOrphans.ALL, c.drainOrphans());
    assertEquals(InitialConnect.ON, c.initialConnect());
    assertEquals(Optional.of(Policy.RETRY), c.errorPolicy(ConnectKey.ON_WRITE_ERROR));
    assertEquals(Optional.of(Policy.HALT), c.errorPolicy(ConnectKey.ON_SCHEMA_ERROR));
    assertEquals(Optional.of(Policy.DROP), c.errorPolicy(ConnectKey.ON_PARSE_ERROR));
    assertEquals(Optional.of(Policy.RETRY_OTHER), c.errorPolicy(ConnectKey.ON_SERVER_ERROR));
    assertEquals(0, c.autoFlushRows());
    assertEquals(Path.of("/r.pem"), c.tlsSettings().roots());
    assertEquals(SECRET, new String(c.tlsSettings().rootsPassword().get()));
    assertEquals(Optional.of("db1"), c.targetId());
    assertEquals(7, c.connectSettings().connectTimeoutMillis());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          sf_dir=/d                                  | CONFIG_MISSING | addr is not set | addr=host:9000
          addr=h;token=hunter2;username=u;password=p | CONFIG_CONFLICT | token and username | keep
          addr=h;token=hunter2;password=p            | CONFIG_CONFLICT | token and username | keep
          addr=h;password=hunter2                    | CONFIG_MISSING | password is set without username | give both
          addr=h;username=u                          | CONFIG_MISSING | username is set without password | give both
          addr=h;username=a:b;password=hunter2       | CONFIG_INVALID_VALUE | username=a:b | use another user
          addr=h;tls_verify=on                       | CONFIG_CONFLICT | tls_verify | wss
          addr=h;tls_roots=/x                        | CONFIG_CONFLICT | tls_roots | wss
          addr=h;tls_roots_password=hunter2          | CONFIG_CONFLICT | tls_roots_password | wss
          addr=h;sender_id=a/b                       | CONFIG_INVALID_VALUE | sender_id=a/b | letters
          addr=h;sender_id=..                        | CONFIG_INVALID_VALUE | sender_id=.. | letters
          addr=h;sender_id=a\\b                      | CONFIG_INVALID_VALUE | sender_id=a | letters
          addr=h;sf_max_total_bytes=4m               | CONFIG_CONFLICT | holds 1 segments of sf_max_segment_bytes=4194304 | at least 8388608 or lower the segments to at most 2097152
          addr=h;sf_dir=/d;sf_max_segment_bytes=1g;sf_max_total_bytes=1g | CONFIG_CONFLICT | sf_max_total_bytes=1073741824 | at least 2147483648
          addr=h;sf_dir=/d;sf_durability=append      | CONFIG_INVALID_VALUE | sf_durability=append | use flush
          addr=h;sf_durability=flush                 | CONFIG_CONFLICT | sf_durability=flush | sf_dir
          addr=h;sf_dir=/d;sf_sync_interval_millis=5 | CONFIG_CONFLICT | sf_sync_interval_millis | periodic
          addr=h;drain_orphans=on                    | CONFIG_CONFLICT | drain_orphans | directory
          addr=h;sf_format=2                         | CONFIG_INVALID_VALUE | sf_format=2 | give 1
          addr=h;reconnect_max_backoff_millis=50     | CONFIG_CONFLICT | reconnect_max_backoff_millis=50 is below reconnect_initial_backoff_millis=100 | raise
          addr=h;init_buf_size=2m;max_buf_size=1m    | CONFIG_CONFLICT | init_buf_size=2097152 | max_buf_size
          addr=h:1,h:1                               | CONFIG_CONFLICT | h:1 twice | once
          addr=h,H:9000                              | CONFIG_CONFLICT | H:9000 twice | once
          addr=ws://h:9000                           | CONFIG_INVALID_VALUE | 'ws://h:9000' is a URL | without a scheme
          addr=http://h                              | CONFIG_INVALID_VALUE | 'http://h' is a URL | without a scheme
          addr=h;sf_dir=s3://bucket/sf               | CONFIG_INVALID_VALUE | sf_dir=s3://bucket/sf is a URL | local disk
          addr=h;sf_dir=file:/data/sf                | CONFIG_INVALID_VALUE | sf_dir=file:/data/sf is a URL | local disk
          addr=h;sf_dir=dbfs:/sf                     | CONFIG_INVALID_VALUE | sf_dir=dbfs:/sf is a URL | local disk
          addr=h:0                                   | CONFIG_INVALID_VALUE | 'h:0' | from 1 to 65535
          addr=h:65536                               | CONFIG_INVALID_VALUE | 'h:65536' | from 1 to 65535
          addr=h:                                    | CONFIG_INVALID_VALUE | 'h:' | from 1 to 65535
          addr=h:+1                                  | CONFIG_INVALID_VALUE | 'h:+1' | from 1 to 65535
          addr=:9000                                 | CONFIG_INVALID_VALUE | ':9000' | host:port
          addr=::1                                   | CONFIG_INVALID_VALUE | '::1' | brackets
          addr=[::1                                  | CONFIG_INVALID_VALUE | '[::1' | [::1]:9000
          addr=[::1]9000                             | CONFIG_INVALID_VALUE | '[::1]9000' | [::1]:9000
          addr=[host]:9000                           | CONFIG_INVALID_VALUE | '[host]:9000' | [::1]:9000
          addr=h/path                                | CONFIG_INVALID_VALUE | 'h/path' | host:port
          addr=h,                                    | CONFIG_INVALID_VALUE | empty entry at position 2 | remove
          """)
  void refuses(String keys, ErrorCode code, String what, String advice) {
    SfException e = assertThrows(SfException.class, () -> SenderConfig.parse("ws::" + keys));
    assertEquals(code, e.code(), e.getMessage());
    assertTrue(e.getMessage().contains(what), e.getMessage());
    assertTrue(e.getMessage().contains(advice), e.getMessage());
    assertFalse(e.getMessage().contains(SECRET), e.getMessage());
  }

  @Test
  void refusesTlsContradictions() {
    assertConflict("wss::addr=h;tls_verify=unsafe_off;tls_roots=/x", "unsafe_off");
    assertConflict("wss::addr=h;tls_roots_password=hunter2", "trust store");
  }

  private static void assertConflict(String text, String part) {
    SfException e = assertThrows(SfException.class, () -> SenderConfig.parse(text));
    assertEquals(ErrorCode.CONFIG_CONFLICT, e.code());
    assertTrue(e.getMessage().contains(part), e.getMessage());
    assertFalse(e.getMessage().contains(SECRET), e.getMessage());
  }

  @Test
  void exactlyTwoSegmentsAreEnough() {
    assertEquals(8L << 20, SenderConfig.parse("ws::addr=h;sf_max_total_bytes=8m").totalBytes());
  }

  @Test
  void withChangesOneKeyAndChecksAgain() {
    SenderConfig c = SenderConfig.parse("ws::addr=h;sf_dir=/d;token=hunter2");
    SenderConfig changed = c.with(ConnectKey.SENDER_ID, "x");
    assertEquals("x", changed.senderId());
    assertEquals("default", c.senderId());
    assertEquals(c, changed.with(ConnectKey.SENDER_ID, null));
    assertThrows(SfException.class, () -> c.with(ConnectKey.SENDER_ID, "a/b"));
    assertThrows(SfException.class, () -> c.with(ConnectKey.USERNAME, "u"));
  }

  @Test
  void noSecretIsShown() {
    SenderConfig c =
        SenderConfig.parse("wss::addr=h;token=hunter2;tls_roots=/r;tls_roots_password=hunter2");
    SenderConfig basic = SenderConfig.parse("ws::addr=h;user=u;pass=hunter2");
    for (Object shown :
        List.of(c, basic, c.connectSettings(), basic.credentials(), c.credentials())) {
      assertFalse(shown.toString().contains(SECRET), shown.toString());
    }
    assertEquals("ws::addr=h;username=u;password=***;", basic.toString());
    assertEquals(
        "ws::addr=h;token=${env:T};", SenderConfig.parse("ws::addr=h;token=${env:T}").toString());
  }

  @Test
  void secretsAreResolvedAtEachUse(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("token");
    Files.writeString(file, "first\n");
    Credentials token = SenderConfig.parse("ws::addr=h;token=${file:" + file + "}").credentials();
    assertEquals("Bearer first", token.authorization());
    Files.writeString(file, "second\r\n");
    assertEquals("Bearer second", token.authorization());
    Files.writeString(file, "bad\ntoken");
    assertUnresolved(token, "position 3");
    Files.writeString(file, "");
    assertUnresolved(token, "is empty");
    Files.delete(file);
    assertUnresolved(token, "cannot be read");
  }

  @Test
  void secretsFromTheEnvironment() {
    String name = System.getenv().keySet().stream().filter("PATH"::equals).findAny().orElseThrow();
    assertEquals(System.getenv(name), SecretRef.parse("token", "${env:PATH}").resolve());
    assertUnresolved(
        SenderConfig.parse("ws::addr=h;token=${env:NO_SUCH_VARIABLE_HERE}").credentials(),
        "NO_SUCH_VARIABLE_HERE is not set");
    assertThrows(SfException.class, () -> SecretRef.parse("token", "${env:}"));
    assertThrows(SfException.class, () -> SecretRef.parse("token", "${env:X"));
    assertEquals("$x", SecretRef.parse("token", "$x").resolve());
  }

  private static void assertUnresolved(Credentials credentials, String part) {
    SfException e = assertThrows(SfException.class, credentials::authorization);
    assertEquals(ErrorCode.SECRET_UNRESOLVED, e.code());
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  @Test
  void theEnvironmentVariableMustBeSet() {
    Assumptions.assumeTrue(System.getenv(SenderConfig.ENVIRONMENT_VARIABLE) == null);
    SfException e = assertThrows(SfException.class, SenderConfig::fromEnvironment);
    assertEquals(ErrorCode.CONFIG_MISSING, e.code());
  }

  @Test
  void basicAuthenticationIsUtf8() {
    assertEquals(
        "Basic Ym9iOnDDpHNz",
        SenderConfig.parse("ws::addr=h;username=bob;password=päss").credentials().authorization());
  }
}
