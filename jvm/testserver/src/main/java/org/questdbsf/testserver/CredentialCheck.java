package org.questdbsf.testserver;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Which Authorization headers are let in. */
final class CredentialCheck {
  private final List<byte[]> accepted = new ArrayList<>();

  CredentialCheck(TestServerOptions options) {
    if (options.user() != null) {
      String pair = options.user() + ":" + options.password();
      String base64 = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
      accepted.add(("Basic " + base64).getBytes(StandardCharsets.UTF_8));
    }
    if (options.token() != null) {
      accepted.add(("Bearer " + options.token()).getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Whether a request with this header value, or none (null), may go on. */
  boolean admits(String authorization) {
    if (accepted.isEmpty()) {
      return true;
    }
    if (authorization == null) {
      return false;
    }
    byte[] given = authorization.getBytes(StandardCharsets.UTF_8);
    return accepted.stream().anyMatch(wanted -> MessageDigest.isEqual(wanted, given));
  }
}
