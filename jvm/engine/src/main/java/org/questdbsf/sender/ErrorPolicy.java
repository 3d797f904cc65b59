package org.questdbsf.sender;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.questdbsf.sender.Refusal.Hope;

/**
 * Which {@link Policy} holds for a refusal: the key of its category, else {@code on_server_error},
 * else what is sensible for its {@link Hope}. Immutable.
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

  private final PolicyDefaults defaults;
  private final boolean canKeep;
  private final Map<Category, Policy> configured = new EnumMap<>(Category.class);

  /**
   * @param config what the keys say
   * @param defaults for what no key names
   * @param canKeep whether there is a place for dropped frames; without, none is dropped by default
   */
  ErrorPolicy(SenderConfig config, PolicyDefaults defaults, boolean canKeep) {
    this.defaults = defaults;
    this.canKeep = canKeep;
    for (Category category : Category.values()) {
      Optional.ofNullable(KEYS.get(category))
          .flatMap(config::errorPolicy)
          .or(() -> config.errorPolicy(ConnectKey.ON_SERVER_ERROR))
          .ifPresent(policy -> configured.put(category, policy));
    }
  }

  /** What is done about a refusal of this category. */
  Policy of(Category category, Hope hope) {
    if (hope == Hope.NEW_CONNECTION) {
      return Policy.RETRY;
    }
    Policy asked = configured.get(category);
    return asked != null ? asked : byDefault(category, hope);
  }

  private Policy byDefault(Category category, Hope hope) {
    return switch (category) {
      case NOT_WRITABLE -> Policy.RETRY_OTHER;
      case UNKNOWN -> defaults == PolicyDefaults.ENGINE ? Policy.HALT : Policy.RETRY;
      case SCHEMA_MISMATCH, WRITE_ERROR, LOCAL_FAILURE ->
          hope == Hope.NONE ? aside() : Policy.RETRY;
      default -> hope == Hope.NONE ? Policy.HALT : Policy.RETRY;
    };
  }

  /** Of frames that only their own rows are to blame for: others of the sender can go on. */
  private Policy aside() {
    return defaults == PolicyDefaults.ENGINE && canKeep ? Policy.DROP : Policy.HALT;
  }
}
