package org.questdbsf.testserver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the JSON form of a {@link Script}: first all of it, then the script changes at once. */
final class ScriptJson {
  private final Script script;
  private final List<Runnable> assignments = new ArrayList<>();

  ScriptJson(Script script) {
    this.script = script;
  }

  /**
   * The setters to call, in order; {@link IllegalArgumentException} names the key that is wrong.
   */
  List<Runnable> read(String json) {
    Keys keys = new Keys("script", Json.parse(json));
    if (Boolean.TRUE.equals(keys.bool("reset"))) {
      assignments.add(script::reset);
    }
    set(keys.number("ack_delay_millis"), script::ackDelayMillis);
    set(keys.integer("ack_every"), script::ackEvery);
    set(keys.bool("hold_acks"), script::holdAcks);
    set(keys.text("role"), script::role);
    set(keys.integer("max_batch_bytes"), script::maxBatchBytes);
    set(keys.bool("silent"), script::silent);
    set(keys.number("upgrade_delay_millis"), script::upgradeDelayMillis);
    set(keys.integer("http_status"), script::httpStatus);
    set(keys.number("idle_timeout_millis"), script::idleTimeoutMillis);
    set(keys.integer("max_tables"), script::maxTables);
    readNack(keys.object("nack"));
    readCuts(keys.object("close"), keys.number("drop_after_messages"), keys.integer("drop_times"));
    readRefusal(
        keys.integer("refuse_status"), keys.object("refuse_headers"), keys.integer("refuse_times"));
    Keys durable = keys.object("durable_acks");
    if (durable != null) {
      set(durable.bool("grant"), script::grantDurableAcks);
      set(durable.bool("hold"), script::holdDurableAcks);
      durable.done();
    }
    keys.done();
    return assignments;
  }

  private void readNack(Keys nack) {
    if (nack == null) {
      return;
    }
    Integer times = nack.integer("times");
    Integer status = nack.integer("status");
    NackRule rule =
        new NackRule(
            status == null ? RefusedException.WRITE_ERROR : status,
            orElse(nack.text("message"), "refused by the test"),
            nack.text("table"),
            orElse(nack.number("after_messages"), 0L),
            times);
    nack.done();
    assignments.add(() -> script.nack(isNone(times) ? null : rule));
  }

  private void readCuts(Keys close, Long dropAfter, Integer dropTimes) {
    if (close != null) {
      Integer times = close.integer("times");
      Integer code = close.integer("code");
      CutRule rule =
          new CutRule(
              code == null ? 1011 : code,
              close.text("reason"),
              orElse(close.number("after_messages"), 0L),
              times);
      close.done();
      assignments.add(() -> script.close(isNone(times) ? null : rule));
    }
    if (dropAfter != null || dropTimes != null) {
      CutRule rule = new CutRule(0, null, orElse(dropAfter, 0L), dropTimes);
      assignments.add(() -> script.drop(isNone(dropTimes) ? null : rule));
    }
  }

  private void readRefusal(Integer status, Keys headers, Integer times) {
    if (status == null) {
      if (headers != null || times != null) {
        throw new IllegalArgumentException(
            "script: refuse_headers, refuse_times: no refuse_status");
      }
      return;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    if (headers != null) {
      headers.names().forEach(name -> texts.put(name, headers.text(name)));
    }
    assignments.add(() -> script.refuse(status, texts, times));
  }

  private <T> void set(T value, java.util.function.Consumer<T> setter) {
    if (value != null) {
      assignments.add(() -> setter.accept(value));
    }
  }

  private static <T> T orElse(T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private static boolean isNone(Integer times) {
    return times != null && times == 0;
  }

  /** A JSON object whose keys are all to be known. */
  private static final class Keys {
    private final String path;
    private final Map<String, Object> left = new LinkedHashMap<>();

    private Keys(String path, Object value) {
      if (!(value instanceof Map<?, ?> map)) {
        throw new IllegalArgumentException(path + ": not an object");
      }
      this.path = path;
      map.forEach((key, item) -> left.put(key.toString(), item));
    }

    private List<String> names() {
      return List.copyOf(left.keySet());
    }

    private Boolean bool(String key) {
      return take(key, Boolean.class);
    }

    private String text(String key) {
      return take(key, String.class);
    }

    private Long number(String key) {
      return take(key, Long.class);
    }

    private Integer integer(String key) {
      Long number = number(key);
      return number == null ? null : Math.toIntExact(number);
    }

    private Keys object(String key) {
      Object value = take(key, Map.class);
      return value == null ? null : new Keys(path + "." + key, value);
    }

    private <T> T take(String key, Class<T> type) {
      Object value = left.remove(key);
      if (value != null && !type.isInstance(value)) {
        throw new IllegalArgumentException(
            path + "." + key + ": not a " + type.getSimpleName() + ": " + value);
      }
      return type.cast(value);
    }

    private void done() {
      if (!left.isEmpty()) {
        throw new IllegalArgumentException(path + ": unknown keys " + left.keySet());
      }
    }
  }
}
