package org.questdbsf.net;

import java.io.Serializable;
import java.util.Objects;

/**
 * One address of a QuestDB server.
 *
 * @param host a name or an IP literal; an IPv6 literal stands without brackets (brackets given are
 *     taken off)
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) implements Serializable {

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException when the host is empty or the port out of range
   */
  public Endpoint {
    Objects.requireNonNull(host, "host");
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    if (host.isEmpty()) {
      throw new IllegalArgumentException("host is empty");
    }
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException("port " + port + " of " + host + " is not in 1..65535");
    }
  }

  /** {@code host:port}, an IPv6 literal in brackets: the form of a URL and of a Host header. */
  @Override
  public String toString() {
    return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
  }
}
