package org.questdbsf.net;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Where the value of the {@code Authorization} header comes from. */
public interface Credentials {

  /** No header. */
  Credentials NONE = () -> null;

  /**
   * The header's value, or null for no header. Called anew at each connect, so that a rotated token
   * or password needs no restart. Called on the connecting thread; may read a small file.
   *
   * @throws RuntimeException when it cannot be resolved; the connect attempt then fails with this
   *     as its cause and is tried again like any other
   */
  String authorization();

  /** The header's value for a user and a password (RFC 7617, UTF-8). */
  static String basic(String username, String password) {
    byte[] pair = (username + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }

  /** The header's value for a token (RFC 6750). */
  static String bearer(String token) {
    return "Bearer " + token;
  }
}
