package org.questdbsf.sender;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Connect-string keys of other clients and earlier releases that have no effect here: those that
 * are accepted with one WARN, because a string written for another client should still connect, and
 * those that are refused with a word on what to write instead, because leaving them out would
 * change what the user asked for.
 */
final class RetiredKeys {
  private static final Set<String> IGNORED =
      Set.of(
          "auth",
          "buffer_pool_size",
          "compression",
          "compression_level",
          "connection_listener_inbox_capacity",
          "initial_credit",
          "in_flight_window",
          "max_batch_rows",
          "max_schemas_per_connection",
          "max_version",
          "path",
          "acquire_timeout_ms",
          "idle_timeout_ms",
          "max_lifetime_ms",
          "housekeeper_interval_ms",
          "lazy_connect",
          "pool_reap",
          "query_close_timeout_ms",
          "target",
          "zone");

  private static final Set<String> IGNORED_FAMILIES =
      Set.of("failover", "sender_pool_", "query_pool_");

  private static final Map<String, String> REMOVED =
      Map.ofEntries(
          entry("max_in_flight", "leave it out: sf_max_total_bytes bounds what is in flight"),
          entry("store_and_forward", "give sf_dir, which switches it on"),
          entry("sf_fsync", "give sf_durability=flush"),
          entry("sf_fsync_interval_millis", "give sf_durability=periodic, sf_sync_interval_millis"),
          entry(
              "catchup_cap_gap_min_escalation_window_millis",
              "write catch_up_cap_gap_min_escalation_window_millis"),
          entry("auth_timeout", "write auth_timeout_ms"),
          entry("tls_ca", "write tls_roots"),
          entry("token_x", "give token or username and password: keys of that kind are for TCP"),
          entry("token_y", "give token or username and password: keys of that kind are for TCP"),
          entry("protocol_version", "leave it out: it is agreed at connect"),
          entry("max_backoff", "write reconnect_max_backoff_millis"),
          entry("max_backoff_millis", "write reconnect_max_backoff_millis"),
          entry("retry_timeout", "write reconnect_max_duration_millis"),
          entry("retry_max_backoff", "write reconnect_max_backoff_millis"),
          entry("request_timeout", "write ack_timeout_millis"),
          entry("request_min_throughput", "leave it out: it is for HTTP"),
          entry("qwp_ws_progress", "leave it out: sending always goes on in the background"),
          entry("transaction", "leave it out: this client does not write deferred groups"));

  private RetiredKeys() {}

  /** Whether the key is accepted without effect. */
  static boolean isIgnored(String key) {
    return IGNORED.contains(key) || IGNORED_FAMILIES.stream().anyMatch(key::startsWith);
  }

  /** What to do instead of a key that is refused. */
  static Optional<String> successor(String key) {
    String named = REMOVED.get(key);
    if (named == null && key.startsWith("sf_fsync")) {
      named = REMOVED.get("sf_fsync");
    }
    if (named == null && key.startsWith("catchup_")) {
      named = "write catch_up_" + key.substring("catchup_".length());
    }
    return Optional.ofNullable(named);
  }

  /** Every exact key that is accepted without effect. */
  static Set<String> ignored() {
    return IGNORED;
  }

  /** Every exact key that is refused. */
  static Set<String> removed() {
    return REMOVED.keySet();
  }
}
