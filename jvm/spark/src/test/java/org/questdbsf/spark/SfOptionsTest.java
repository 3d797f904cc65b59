package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.slot.Durability;

class SfOptionsTest {
  /** A valid set of options with changes; a value of null takes the option away. */
  private static Map<String, String> with(String... changes) {
    Map<String, String> map = new HashMap<>(Map.of("addr", "h:9000", "table", "t"));
    for (int i = 0; i < changes.length; i += 2) {
      if (changes[i + 1] == null) {
        map.remove(changes[i]);
      } else {
        map.put(changes[i], changes[i + 1]);
      }
    }
    return map;
  }

  private static SfOptions of(String... changes) {
    return SfOptions.of(with(changes));
  }

  private static void refused(ErrorCode code, String[] changes, String... words) {
    Errors.of(code, () -> of(changes), words);
  }

  private static String[] set(String... changes) {
    return changes;
  }

  @Test
  void everyOptionIsDescribedAndItsDefaultIsValid() {
    for (SfOption option : SfOption.values()) {
      assertFalse(option.doc().isBlank(), option.key());
      assertTrue(option.doc().endsWith("."), option.key());
      assertTrue(option.key().matches("[a-z][a-z0-9_]*"), option.key());
      if (option.defaultValue() != null) {
        option.type().parse(option.key(), option.defaultValue());
      }
      option.connectKey().ifPresent(key -> assertEquals(option.key(), key.key()));
      assertEquals(
          option.secret(),
          option.key().matches("password|token|tls_roots_password|connect_string"),
          option.key());
    }
  }

  @Test
  void namesAndWordsInAnyCase() {
    SfOptions options =
        SfOptions.of(Map.of("ADDR", "h:1", "Table", "t", "Commit_On", "ACK", "TLS", "FALSE"));
    assertEquals("t", options.word(SfOption.TABLE));
    assertEquals(CommitOn.ACK, options.commitOn());
    assertFalse(options.on(SfOption.TLS));
  }

  @Test
  void sparksOwnOptionsArePassedOver() {
    of("checkpointLocation", "/x", "path", "/y", "queryName", "q", "__partition_columns", "[]");
    of(
        "asyncProgressTrackingEnabled",
        "true",
        "asyncProgressTrackingCheckpointIntervalMs",
        "1000",
        "_asyncProgressTrackingOverrideSinkSupportCheck",
        "true");
  }

  /** Nothing would find the slots of a family that is named anew by each write. */
  @Test
  void aBatchWriteWithSlotsNeedsTheirName() {
    for (String mode : List.of("ack", "store")) {
      String[] slots = set("sf_dir", "/d", "commit_on", mode);
      Errors.of(
          ErrorCode.CONFIG_MISSING, () -> OptionRules.checkBatch(of(slots)), "sender_id", "sf_dir");
      OptionRules.checkBatch(of("sf_dir", "/d", "commit_on", mode, "sender_id", "load"));
    }
    OptionRules.checkBatch(of("sf_dir", "/d", "commit_on", "ack", "drain_orphans", "off"));
  }

  @Test
  void unknownOptionsNameTheNearest() {
    refused(ErrorCode.CONFIG_UNKNOWN_KEY, set("tabel", "x"), "tabel", "table");
    refused(ErrorCode.CONFIG_UNKNOWN_KEY, set("sf_fsync", "x"), "sf_durability");
    refused(ErrorCode.CONFIG_UNKNOWN_KEY, set("auto_flush", "on"), "plain sender");
  }

  @Test
  void catalogTablesAreNamedAsSuch() {
    refused(ErrorCode.SPARK_UNSUPPORTED, set("owner", "me"), "saveAsTable", "save()", "start()");
    refused(ErrorCode.SPARK_UNSUPPORTED, set("provider", "questdb-sf"), "toTable");
  }

  @Test
  void theDirectoryOfSlotsIsAnAbsoluteLocalPath() {
    for (String bad : List.of("sf", "./sf", "s3://b/sf", "file:///d", "dbfs:/d", "hdfs://n/d")) {
      for (String mode : List.of("ack", "store")) {
        refused(
            ErrorCode.CONFIG_INVALID_VALUE, set("sf_dir", bad, "commit_on", mode), "sf_dir=" + bad);
      }
    }
  }

  @Test
  void theConnectStringHoldsEveryOption() {
    SfOptions options =
        SfOptions.of(
            Map.of(
                "connect_string",
                "wss::addr=a:1,b:2;table=t;commit_on=store;sf_dir=/d;sf_max_bytes=1m;"
                    + "client_id=me;max_background_drainers=2;symbols=x,y;"));
    assertTrue(options.on(SfOption.TLS));
    assertEquals(List.of("a:1", "b:2"), options.list(SfOption.ADDR));
    assertEquals(List.of("x", "y"), options.list(SfOption.SYMBOLS));
    assertEquals(1L << 20, options.number(SfOption.SF_MAX_SEGMENT_BYTES).orElseThrow());
    assertEquals("me", options.connectKeys().get(ConnectKey.CLIENT_ID));
    assertEquals("2", options.connectKeys().get(ConnectKey.MAX_BACKGROUND_DRAINERS));
  }

  @Test
  void anOptionMustNotContradictTheConnectString() {
    Map<String, String> same =
        with("connect_string", "ws::addr=h:9000;sf_max_total_bytes=64m;table=t;");
    same.put("sf_max_total_bytes", "67108864");
    SfOptions.of(same);
    refused(
        ErrorCode.CONFIG_CONFLICT,
        set("connect_string", "ws::addr=other:9000;"),
        "addr=h:9000",
        "addr=other:9000");
    refused(
        ErrorCode.CONFIG_CONFLICT,
        set("connect_string", "ws::addr=h:9000;table=u;"),
        "table=t",
        "table=u");
    refused(
        ErrorCode.CONFIG_CONFLICT, set("connect_string", "ws::addr=h:9000;", "tls", "on"), "tls");
    String secret = "hush-hush";
    String message =
        Errors.of(
                ErrorCode.CONFIG_CONFLICT,
                () -> of("connect_string", "ws::addr=h:9000;token=other;", "token", secret))
            .getMessage();
    assertFalse(message.contains(secret) || message.contains("other"), message);
  }

  @Test
  void schemesOtherThanWebSocketAreRefused() {
    for (String scheme : List.of("http", "https", "tcp", "tcps", "udp")) {
      refused(
          ErrorCode.CONFIG_INVALID_VALUE,
          set("connect_string", scheme + "::addr=h:9000;"),
          scheme,
          "ws");
    }
  }

  @Test
  void valuesAreCheckedWithNameAndRange() {
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("max_lanes", "0"), "max_lanes=0");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("frame_rows", "x"), "frame_rows=x");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("commit_on", "later"), "ack, store, durable");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("on_schema_error", "retry"), "halt, drop");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("table", ""), "table");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("ntz_zone", "Mars/Base"), "Mars/Base");
    refused(ErrorCode.CONFIG_INVALID_VALUE, set("partition_by", "NONE"), "partition_by");
  }

  @Test
  void whatIsRequired() {
    refused(ErrorCode.CONFIG_MISSING, set("addr", null), "addr");
    refused(ErrorCode.CONFIG_MISSING, set("table", null), "table_column");
    refused(ErrorCode.CONFIG_CONFLICT, set("table_column", "c"), "table_column");
    refused(
        ErrorCode.CONFIG_CONFLICT,
        set("timestamp", "c", "server_timestamp", "on"),
        "server_timestamp");
    refused(ErrorCode.CONFIG_MISSING, set("on_write_error", "drop"), "dead_letter_dir");
    refused(ErrorCode.CONFIG_MISSING, set("on_server_error", "drop"), "dead_letter_dir");
    refused(ErrorCode.CONFIG_MISSING, set("on_row_error", "dead_letter"), "dead_letter_dir");
    Errors.of(ErrorCode.CONFIG_MISSING, () -> OptionRules.checkStream(of()), "server_timestamp");
    OptionRules.checkStream(of("server_timestamp", "on"));
  }

  @Test
  void slotsAreChosenByName() {
    refused(
        ErrorCode.CONFIG_MISSING, set("sf_dir", "/d"), "commit_on=ack", "commit_on=store", "slot");
    refused(ErrorCode.CONFIG_MISSING, set("commit_on", "store"), "sf_dir");
    refused(
        ErrorCode.CONFIG_CONFLICT, set("sf_durability", "flush"), "sf_durability", "commit_on=ack");
    refused(ErrorCode.CONFIG_CONFLICT, set("sender_id", "x"), "sf_dir");
    refused(ErrorCode.CONFIG_CONFLICT, set("dedup_keys", "x"), "create_table");
    SfOptions store = of("commit_on", "store", "sf_dir", "/d");
    Errors.of(ErrorCode.CONFIG_MISSING, () -> OptionRules.checkBatch(store), "sender_id");
    Errors.of(
        ErrorCode.CONFIG_CONFLICT,
        () -> OptionRules.checkBatch(of("update_keys", "a")),
        "update_keys");
  }

  @Test
  void senderIdMayNotBeAPath() {
    for (String id : List.of("../x", "a/b", "", "a b", "ü")) {
      SfOptions options = id.isEmpty() ? null : of("commit_on", "store", "sf_dir", "/d");
      if (options != null) {
        Errors.of(
            ErrorCode.CONFIG_INVALID_VALUE,
            () -> SenderSettings.of(options, true, id, 2),
            "sender_id",
            id);
      }
    }
  }

  @Test
  void engineSettingsByMode() {
    SenderConfig ack = SenderSettings.of(of(), true, "s", 2);
    assertTrue(ack.sfDir().isEmpty());
    assertEquals(128L << 20, ack.totalBytes());
    assertEquals(4L << 20, ack.segmentBytes());
    assertEquals(0, ack.reconnectMaxDurationMillis());
    assertEquals(300_000, SenderSettings.of(of(), false, "s", 2).reconnectMaxDurationMillis());
    SenderConfig adopting =
        SenderSettings.of(of("sf_dir", "/d", "commit_on", "ack", "sender_id", "x"), true, "x", 2);
    assertTrue(adopting.sfDir().isEmpty());
    SenderConfig store =
        SenderSettings.of(of("sf_dir", "/d", "commit_on", "store"), true, "fam", 2);
    assertEquals("/d", store.sfDir().orElseThrow().toString());
    assertEquals("fam", store.senderId());
    assertEquals(10L << 30, store.totalBytes());
    assertEquals(Durability.FLUSH, store.durability());
    assertTrue(SenderSettings.of(of("commit_on", "durable"), true, "s", 2).requestDurableAck());
  }

  @Test
  void segmentsFitTheBudget() {
    SenderConfig many = SenderSettings.of(of("sf_max_total_bytes", "128m"), true, "s", 17);
    assertEquals(0, many.segmentBytes() % 4096);
    assertTrue(many.segmentBytes() * 2 * 17 <= 64L << 20);
    refusedBudget(set("sf_max_total_bytes", "1m"), 8, "1048576", "8 lanes", "raise");
    refusedBudget(
        set("sf_max_total_bytes", "16m", "sf_max_segment_bytes", "4m"), 4, "4194304", "2097152");
  }

  private static void refusedBudget(String[] changes, int lanes, String... words) {
    Errors.of(
        ErrorCode.CONFIG_CONFLICT, () -> SenderSettings.of(of(changes), true, "s", lanes), words);
  }

  @Test
  void secretsAreNotShown() {
    String text =
        of(
                "username",
                "u",
                "password",
                "hush",
                "tls",
                "on",
                "tls_roots",
                "/r",
                "tls_roots_password",
                "${env:ROOTS}")
            .toString();
    assertFalse(text.contains("hush"), text);
    assertTrue(text.contains("${env:ROOTS}"), text);
    assertFalse(of("connect_string", "ws::addr=h:9000;token=hush;").toString().contains("hush"));
  }

  @Test
  void travelsToExecutors() throws Exception {
    SfOptions options = of("symbols", "a,b", "connect_string", "ws::addr=h:9000;client_id=c;");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(options);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      SfOptions copy = (SfOptions) in.readObject();
      assertEquals(options.identity(), copy.identity());
      assertNotNull(copy.connectKeys().get(ConnectKey.CLIENT_ID));
    }
  }
}
