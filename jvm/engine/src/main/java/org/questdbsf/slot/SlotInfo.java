package org.questdbsf.slot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A slot directory as seen from outside, without its lock.
 *
 * @param hasSegments whether it holds any {@code .sfa} file
 * @param failed whether it holds {@code .failed}: adopters leave it alone
 * @param quarantined whether its name says that another client set it aside ({@code
 *     .unreplayable-n})
 * @param locked whether a process holds its lock, as /proc/locks says; false where that is not
 *     known
 * @param holderPid that process, where known
 * @param problem why it cannot be looked at; the fields after {@code directory} say nothing then.
 *     Empty where it can
 * @param target content of {@code .target}, empty when there is none
 */
public record SlotInfo(
    String name,
    Path directory,
    boolean hasSegments,
    boolean failed,
    boolean quarantined,
    boolean locked,
    OptionalLong holderPid,
    Optional<String> problem,
    Map<String, String> target) {

  /** Whether it is one of a sender_id's slots: that name, or it and a number. */
  public boolean isOf(String senderId) {
    return name.equals(senderId)
        || name.startsWith(senderId + "-") && name.substring(senderId.length()).matches("-[0-9]+");
  }

  static SlotInfo unreadable(String name, Path directory, IOException e) {
    return new SlotInfo(
        name,
        directory,
        false,
        false,
        false,
        false,
        OptionalLong.empty(),
        Optional.of(e.toString()),
        Map.of());
  }
}
