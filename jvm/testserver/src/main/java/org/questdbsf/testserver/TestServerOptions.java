package org.questdbsf.testserver;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * How a {@link TestServer} is started. Immutable; every method returns a changed copy.
 *
 * @param root database root, made if missing; null: a temporary one, deleted at close
 * @param host address to listen on
 * @param ports one entry for each port to listen on, 0 for a free one; each port has its own script
 * @param user user name of basic authentication, or null; the password must be there as well
 * @param password password of basic authentication, or null
 * @param token bearer token, accepted beside user and password, or null
 * @param tls certificate and key, or null for plain text
 */
public record TestServerOptions(
    Path root,
    String host,
    List<Integer> ports,
    String user,
    String password,
    String token,
    TlsFiles tls) {

  /** Checks the ports and that user and password come together. */
  public TestServerOptions {
    Objects.requireNonNull(host, "host");
    ports = List.copyOf(ports);
    if (ports.isEmpty()) {
      throw new IllegalArgumentException("ports: at least one is needed");
    }
    for (int port : ports) {
      if (port < 0 || port > 65535) {
        throw new IllegalArgumentException("port " + port + ": not within 0 to 65535");
      }
    }
    if ((user == null) != (password == null)) {
      throw new IllegalArgumentException("user and password: give both or none");
    }
  }

  /** A temporary root, one free port on 127.0.0.1, no credentials, no TLS. */
  public static TestServerOptions defaults() {
    return new TestServerOptions(null, "127.0.0.1", List.of(0), null, null, null, null);
  }

  /** Keeps the database in this directory, also after close. */
  public TestServerOptions withRoot(Path newRoot) {
    return new TestServerOptions(newRoot, host, ports, user, password, token, tls);
  }

  /** Listens on this address. */
  public TestServerOptions withHost(String newHost) {
    return new TestServerOptions(root, newHost, ports, user, password, token, tls);
  }

  /** Listens on these ports; 0 stands for a free one. */
  public TestServerOptions withPorts(Integer... newPorts) {
    return new TestServerOptions(root, host, List.of(newPorts), user, password, token, tls);
  }

  /** Asks for basic authentication. */
  public TestServerOptions withUser(String newUser, String newPassword) {
    return new TestServerOptions(root, host, ports, newUser, newPassword, token, tls);
  }

  /** Asks for a bearer token. */
  public TestServerOptions withToken(String newToken) {
    return new TestServerOptions(root, host, ports, user, password, newToken, tls);
  }

  /** Speaks TLS on every port. */
  public TestServerOptions withTls(TlsFiles newTls) {
    return new TestServerOptions(root, host, ports, user, password, token, newTls);
  }

  /** Never prints the secrets. */
  @Override
  public String toString() {
    return "TestServerOptions[root="
        + root
        + ", host="
        + host
        + ", ports="
        + ports
        + ", user="
        + user
        + ", password="
        + (password == null ? "none" : "***")
        + ", token="
        + (token == null ? "none" : "***")
        + ", tls="
        + (tls != null)
        + "]";
  }
}
