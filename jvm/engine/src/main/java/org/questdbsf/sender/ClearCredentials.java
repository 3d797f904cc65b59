package org.questdbsf.sender;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.questdbsf.net.Credentials;
import org.questdbsf.net.Endpoint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns once in a JVM of a password or token that goes to another host without TLS. */
public final class ClearCredentials {
  private static final Logger LOG = LoggerFactory.getLogger(ClearCredentials.class);
  private static final Set<List<Endpoint>> WARNED = ConcurrentHashMap.newKeySet();

  private ClearCredentials() {}

  /** To be called where connections of this configuration begin. */
  public static void warn(SenderConfig config) {
    List<Endpoint> others = exposedTo(config);
    if (!others.isEmpty() && WARNED.add(others)) {
      LOG.warn(
          "The password or token goes to {} without TLS: whoever listens on the way can read it,"
              + " and the rows. Use wss:: (tls=on).",
          others);
    }
  }

  /** Servers on other hosts that get a password or token in the clear. */
  static List<Endpoint> exposedTo(SenderConfig config) {
    if (config.tls() || config.credentials() == Credentials.NONE) {
      return List.of();
    }
    return config.endpoints().stream().filter(endpoint -> !isLocal(endpoint.host())).toList();
  }

  private static boolean isLocal(String host) {
    return host.equalsIgnoreCase("localhost")
        || host.equals("::1")
        || host.matches("127(\\.[0-9]{1,3}){3}");
  }
}
