package org.questdbsf.net;

import java.util.List;
import java.util.Objects;

/**
 * All that a connection needs to know, the same for every endpoint.
 *
 * @param endpoints the servers, in the user's order; at least one
 * @param tls true for {@code wss}
 * @param tlsSettings used when {@code tls}
 * @param credentials the Authorization header
 * @param connectTimeoutMillis for the look-up of the name and the TCP connect together; above 0
 * @param authTimeoutMillis for the TLS handshake and the upgrade together, and for the answer to an
 *     SQL request; above 0
 * @param requestDurableAck ask for durable acknowledgements
 * @param clientId value of {@code X-QWP-Client-Id}: language/version
 */
public record ConnectSettings(
    List<Endpoint> endpoints,
    boolean tls,
    TlsSettings tlsSettings,
    Credentials credentials,
    int connectTimeoutMillis,
    int authTimeoutMillis,
    boolean requestDurableAck,
    String clientId) {

  /**
   * Checks and copies.
   *
   * @throws IllegalArgumentException when there is no endpoint or a time-out is not above 0
   */
  public ConnectSettings {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException("no endpoint");
    }
    Objects.requireNonNull(tlsSettings, "tlsSettings");
    Objects.requireNonNull(credentials, "credentials");
    Objects.requireNonNull(clientId, "clientId");
    if (connectTimeoutMillis <= 0 || authTimeoutMillis <= 0) {
      throw new IllegalArgumentException(
          "time-outs must be above 0 ms: connect "
              + connectTimeoutMillis
              + ", auth "
              + authTimeoutMillis);
    }
  }

  /** Without the credentials. */
  @Override
  public String toString() {
    return "ConnectSettings["
        + (tls ? "wss " : "ws ")
        + endpoints
        + (tls ? ", " + tlsSettings : "")
        + ", connectTimeoutMillis="
        + connectTimeoutMillis
        + ", authTimeoutMillis="
        + authTimeoutMillis
        + ", requestDurableAck="
        + requestDurableAck
        + ", clientId="
        + clientId
        + "]";
  }
}
