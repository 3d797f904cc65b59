package org.questdbsf.sender;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.questdbsf.net.ConnectFailure.Kind;
import org.questdbsf.net.Endpoint;

/** What the hosts answered in one round of connecting. */
final class ConnectRound {
  private final Map<Endpoint, String> answers = new LinkedHashMap<>();
  private int auth;
  private int durableNotGranted;
  private int roles;

  void failed(Endpoint endpoint, Kind kind, String message) {
    answers.put(endpoint, message);
    switch (kind) {
      case AUTH -> auth++;
      case DURABLE_NOT_GRANTED -> durableNotGranted++;
      case ROLE_TOPOLOGY, ROLE_TRANSIENT -> roles++;
      case TRANSPORT, VERSION -> {}
    }
  }

  /** Whether every host refused the credentials. */
  boolean onlyAuth() {
    return auth == answers.size();
  }

  /** Whether every host refused durable acknowledgements. */
  boolean onlyDurableNotGranted() {
    return durableNotGranted == answers.size();
  }

  /** Whether every host said that it takes no writes, or no frames of this size. */
  boolean onlyRoles() {
    return roles == answers.size();
  }

  /** What each host answered. */
  String describe() {
    return answers.entrySet().stream()
        .map(answer -> answer.getKey() + ": " + answer.getValue())
        .collect(Collectors.joining("; "));
  }
}
