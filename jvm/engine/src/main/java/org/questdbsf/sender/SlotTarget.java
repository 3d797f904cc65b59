package org.questdbsf.sender;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;

/**
 * Where the frames of a slot are to go: the content of {@code .target}, written and forced before
 * the first frame, read by whoever adopts the slot later. Immutable; holds no secret.
 *
 * @param targetId {@code target_id} of the sender
 * @param user identity of the sender: {@code basic:NAME}, {@code token} or {@code none}. A token
 *     has no name that may be written down
 * @param hosts servers of the sender
 * @param tables what was asked of the tables, so that an adopter asks the same
 * @param batchCap smallest cap of a server that was seen, in bytes; 0 where none was
 * @param application what wrote the slot, for people
 * @param writtenOn host that wrote it, for people
 */
public record SlotTarget(
    Optional<String> targetId,
    String user,
    List<Endpoint> hosts,
    List<TableSpec> tables,
    int batchCap,
    String application,
    String writtenOn) {

  static final String FORMAT = "1";

  public SlotTarget {
    hosts = List.copyOf(hosts);
    tables = List.copyOf(tables);
  }

  /** The target of a sender with these settings. */
  public static SlotTarget of(
      SenderConfig config, Collection<TableSpec> tables, String application) {
    String user =
        config
            .username()
            .map(name -> "basic:" + name)
            .orElse(config.isSet(ConnectKey.TOKEN) ? "token" : "none");
    return new SlotTarget(
        config.targetId(),
        user,
        config.endpoints(),
        List.copyOf(tables),
        0,
        application,
        hostName());
  }

  /** The same with a cap that was seen. */
  public SlotTarget withBatchCap(int bytes) {
    return new SlotTarget(targetId, user, hosts, tables, bytes, application, writtenOn);
  }

  /** The same with other tables. */
  public SlotTarget withTables(Collection<TableSpec> others) {
    return new SlotTarget(
        targetId, user, hosts, List.copyOf(others), batchCap, application, writtenOn);
  }

  /**
   * Why frames for this target must not go to another, or empty if they may: both name the same
   * {@code target_id}, or, where one names none, user and at least one host are the same.
   */
  public Optional<String> difference(SlotTarget other) {
    if (targetId.isPresent() && other.targetId.isPresent()) {
      return targetId.equals(other.targetId)
          ? Optional.empty()
          : Optional.of("target_id " + targetId.get() + ", not " + other.targetId.get());
    }
    if (!user.equals(other.user)) {
      return Optional.of("user " + user + ", not " + other.user);
    }
    boolean common = hosts.stream().anyMatch(host -> other.hosts.stream().anyMatch(same(host)));
    return common ? Optional.empty() : Optional.of("hosts " + hosts + ", none of " + other.hosts);
  }

  private static Predicate<Endpoint> same(Endpoint a) {
    return b -> a.port() == b.port() && a.host().equalsIgnoreCase(b.host());
  }

  /** The content of {@code .target}. */
  public Map<String, String> toMap() {
    Map<String, String> map = new LinkedHashMap<>();
    map.put("format", FORMAT);
    targetId.ifPresent(id -> map.put("target_id", id));
    map.put("user", user);
    List<String> names = new ArrayList<>();
    hosts.forEach(host -> names.add(host.toString()));
    map.put("hosts", String.join(",", names));
    if (batchCap > 0) {
      map.put("batch_cap", Integer.toString(batchCap));
    }
    map.put("application", application);
    map.put("written_on", writtenOn);
    map.put("tables", Integer.toString(tables.size()));
    for (int i = 0; i < tables.size(); i++) {
      TableSpecText.write(tables.get(i), "table." + i + ".", map);
    }
    return map;
  }

  /**
   * Reads the content of {@code .target}.
   *
   * @param slot name of the slot, for messages
   * @throws SfException SLOT_NEWER_FORMAT or SLOT_REFUSED if it cannot be understood
   */
  public static SlotTarget fromMap(String slot, Map<String, String> map) {
    String format = map.get("format");
    if (!FORMAT.equals(format)) {
      throw new SfException(
          ErrorCode.SLOT_NEWER_FORMAT,
          ".target of slot "
              + slot
              + " has format "
              + format
              + ", only 1 is known; use the version"
              + " that wrote it.");
    }
    try {
      List<TableSpec> tables = new ArrayList<>();
      int count = Integer.parseInt(needed(map, "tables"));
      for (int i = 0; i < count; i++) {
        tables.add(TableSpecText.read("table." + i + ".", map));
      }
      return new SlotTarget(
          Optional.ofNullable(map.get("target_id")),
          needed(map, "user"),
          Addresses.parse(List.of(needed(map, "hosts").split(","))),
          tables,
          Integer.parseInt(map.getOrDefault("batch_cap", "0")),
          map.getOrDefault("application", ""),
          map.getOrDefault("written_on", ""));
    } catch (IllegalArgumentException | SfException e) {
      throw new SfException(
          ErrorCode.SLOT_REFUSED,
          ".target of slot "
              + slot
              + " cannot be read ("
              + e.getMessage()
              + "); drain the slot by"
              + " hand: questdb-sf slots drain --any-target.",
          e);
    }
  }

  static String needed(Map<String, String> map, String key) {
    String value = map.get(key);
    if (value == null) {
      throw new IllegalArgumentException(key + " is missing");
    }
    return value;
  }

  private static String hostName() {
    String name = System.getenv("HOSTNAME");
    if (name != null && !name.isBlank()) {
      return name;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown (" + e.getMessage().toLowerCase(Locale.ROOT) + ")";
    }
  }
}
