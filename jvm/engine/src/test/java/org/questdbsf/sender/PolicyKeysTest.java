package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Each {@code on_*_error} key has the effect it says, with each value and in each preset. */
@Timeout(60)
class PolicyKeysTest {
  /** Which statuses a key is about; a key that is not here fails {@link #everyKeyIsWalked}. */
  private static final Map<ConnectKey, List<Integer>> STATUSES =
      Map.of(
          ConnectKey.ON_SCHEMA_ERROR, List.of(0x03),
          ConnectKey.ON_PARSE_ERROR, List.of(0x05),
          ConnectKey.ON_SECURITY_ERROR, List.of(0x08),
          ConnectKey.ON_WRITE_ERROR, List.of(0x09),
          ConnectKey.ON_INTERNAL_ERROR, List.of(0x06),
          ConnectKey.ON_UNKNOWN_ERROR, List.of(0x04, 0x07, 77, 0xFF),
          ConnectKey.ON_SERVER_ERROR, List.of(0x03, 0x05, 0x06, 0x08, 0x09, 0x0C, 77));

  private static final Map<String, Policy> POLICIES =
      Map.of(
          "halt", Policy.HALT,
          "terminal", Policy.HALT,
          "drop", Policy.DROP,
          "retry", Policy.RETRY,
          "retriable", Policy.RETRY,
          "retriable_other", Policy.RETRY_OTHER);

  record Case(ConfigPreset preset, ConnectKey key, String value, int status) {}

  static Stream<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (ConfigPreset preset : ConfigPreset.values()) {
      STATUSES.forEach(
          (key, statuses) ->
              POLICIES
                  .keySet()
                  .forEach(
                      value ->
                          statuses.forEach(
                              status -> cases.add(new Case(preset, key, value, status)))));
    }
    return cases.stream();
  }

  @Test
  void everyKeyIsWalked() {
    List<ConnectKey> keys =
        Arrays.stream(ConnectKey.values()).filter(key -> key.key().matches("on_.*_error")).toList();
    assertEquals(STATUSES.keySet(), java.util.Set.copyOf(keys));
    for (ConnectKey key : keys) {
      List<String> words = new ArrayList<>(POLICIES.keySet());
      words.add("auto");
      words.forEach(word -> key.type().parse(key.key(), word));
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aKeyDecides(Case one) throws Exception {
    Policy policy = POLICIES.get(one.value);
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (self[0].connection() == 0) {
                session.nack(one.status, sequence, "no");
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    List<SenderError> told = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(self[0])) {
      SenderBuilder builder =
          Senders.builder(server.address(), one.key.key() + "=" + one.value + ";")
              .policies(
                  one.preset == ConfigPreset.SINK ? PolicyDefaults.SINK : PolicyDefaults.ENGINE)
              .errorHandler(told::add);
      try (Sender sender = builder.build()) {
        Senders.publish(sender, "t", 0, 1);
        ErrorCode end = null;
        try {
          sender.awaitAcked(0);
        } catch (SfException e) {
          end = e.code();
        }
        assertTrueEventually(() -> told.size() == 1, "told once: " + told);
        assertEquals(policy, told.get(0).policy());
        assertEquals(policy == Policy.HALT ? ErrorCode.SERVER_REJECTED : null, end);
        assertEquals(policy == Policy.DROP ? 1 : 0, sender.counters().rowsDropped());
        assertEquals(
            policy == Policy.RETRY || policy == Policy.RETRY_OTHER ? List.of(0L) : List.of(),
            self[0].database.all("t"));
      }
    }
  }

  /** The key of a category goes before the general one. */
  @Test
  void theCategorysKeyGoesFirst() {
    SenderConfig config =
        SenderConfig.parse(
            "ws::addr=h;on_unknown_error=drop;on_server_error=retry;on_parse_error=auto;");
    ErrorPolicy policies = new ErrorPolicy(config, PolicyDefaults.ENGINE, false);
    assertEquals(Policy.DROP, policies.of(Category.UNKNOWN, Refusal.Hope.UNCLEAR));
    assertEquals(Policy.RETRY, policies.of(Category.SCHEMA_MISMATCH, Refusal.Hope.NONE));
    assertEquals(Policy.RETRY, policies.of(Category.PARSE_ERROR, Refusal.Hope.NONE));
  }
}
