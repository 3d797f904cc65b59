package org.questdbsf.sender;

import java.util.EnumMap;
import java.util.Map;

/**
 * Which {@link Policy} holds for a {@link Category}: the key of the category, else {@code
 * on_server_error}, else the default. Immutable.
 *
 * <p>Two categories are forced to halt whatever the keys say: {@link Category#PROTOCOL_VIOLATION}
 * and {@link Category#LOCAL_FAILURE}; in the engine's defaults also all statuses that the client
 * spec does not know, because something that is not understood is never dropped silently.
 */
final class ErrorPolicy {
  private static final Map<Category, ConnectKey> KEYS =
      Map.of(
          Category.SCHEMA_MISMATCH, ConnectKey.ON_SCHEMA_ERROR,
          Category.PARSE_ERROR, ConnectKey.ON_PARSE_ERROR,
          Category.SECURITY_ERROR, ConnectKey.ON_SECURITY_ERROR,
          Category.WRITE_ERROR, ConnectKey.ON_WRITE_ERROR,
          Category.INTERNAL_ERROR, ConnectKey.ON_INTERNAL_ERROR,
          Category.UNKNOWN, ConnectKey.ON_UNKNOWN_ERROR);

  private final Map<Category, Policy> policies = new EnumMap<>(Category.class);

  /**
   * @param defaults for what no key names
   * @param configured by category; absent: not set, or {@code auto}
   * @param general {@code on_server_error}, or null
   */
  ErrorPolicy(PolicyDefaults defaults, Map<Category, Policy> configured, Policy general) {
    for (Category category : Category.values()) {
      Policy policy = byDefault(defaults, category);
      if (!isForced(defaults, category)) {
        policy = general == null ? policy : general;
        policy = configured.getOrDefault(category, policy);
      }
      policies.put(category, policy);
    }
  }

  /** What the settings say, with the defaults of a preset. */
  static ErrorPolicy of(SenderConfig config, PolicyDefaults defaults) {
    Map<Category, Policy> configured = new EnumMap<>(Category.class);
    KEYS.forEach(
        (category, key) ->
            config.errorPolicy(key).ifPresent(policy -> configured.put(category, policy)));
    Policy general = config.errorPolicy(ConnectKey.ON_SERVER_ERROR).orElse(null);
    return new ErrorPolicy(defaults, configured, general);
  }

  Policy of(Category category) {
    return policies.get(category);
  }

  private static boolean isForced(PolicyDefaults defaults, Category category) {
    return switch (category) {
      case PROTOCOL_VIOLATION, LOCAL_FAILURE -> true;
      case UNKNOWN, NOT_WRITABLE, DICTIONARY_GAP -> defaults == PolicyDefaults.ENGINE;
      default -> false;
    };
  }

  private static Policy byDefault(PolicyDefaults defaults, Category category) {
    return switch (category) {
      case PARSE_ERROR, SECURITY_ERROR, PROTOCOL_VIOLATION, LOCAL_FAILURE -> Policy.HALT;
      case SCHEMA_MISMATCH -> defaults == PolicyDefaults.ENGINE ? Policy.DROP : Policy.HALT;
      case WRITE_ERROR -> defaults == PolicyDefaults.ENGINE ? Policy.DROP : Policy.RETRY;
      case NOT_WRITABLE -> defaults == PolicyDefaults.ENGINE ? Policy.HALT : Policy.RETRY_OTHER;
      case INTERNAL_ERROR, DICTIONARY_GAP, UNKNOWN ->
          defaults == PolicyDefaults.ENGINE ? Policy.HALT : Policy.RETRY;
    };
  }
}
