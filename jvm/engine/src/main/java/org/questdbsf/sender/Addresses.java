package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;

/** Reads the entries of {@code addr}: host, host:port, [IPv6] or [IPv6]:port. */
final class Addresses {
  static final int DEFAULT_PORT = 9000;

  private Addresses() {}

  static List<Endpoint> parse(List<String> entries) {
    List<Endpoint> endpoints = new ArrayList<>();
    List<String> seen = new ArrayList<>();
    for (String entry : entries) {
      Endpoint endpoint = one(entry);
      String identity = endpoint.host().toLowerCase(Locale.ROOT) + " " + endpoint.port();
      if (seen.contains(identity)) {
        throw new SfException(
            ErrorCode.CONFIG_CONFLICT,
            "addr names " + endpoint + " twice; each server once is enough.");
      }
      seen.add(identity);
      endpoints.add(endpoint);
    }
    return List.copyOf(endpoints);
  }

  static Endpoint one(String entry) {
    if (entry.contains("://")) {
      throw invalid(entry, "is a URL; write host:port without a scheme, and tls=on for TLS");
    }
    if (entry.startsWith("[")) {
      int close = entry.indexOf(']');
      String host = close < 0 ? "" : entry.substring(1, close);
      if (!host.contains(":") || !host.matches("[0-9A-Fa-f:.%a-zA-Z_-]+")) {
        throw invalid(entry, "is no IPv6 address in brackets; write it like [::1]:9000");
      }
      String rest = entry.substring(close + 1);
      if (!rest.isEmpty() && !rest.startsWith(":")) {
        throw invalid(entry, "has text after the bracket; write it like [::1]:9000");
      }
      return new Endpoint(host, rest.isEmpty() ? DEFAULT_PORT : port(entry, rest.substring(1)));
    }
    int colon = entry.indexOf(':');
    if (colon >= 0 && entry.indexOf(':', colon + 1) >= 0) {
      throw invalid(
          entry, "has more than one colon; write an IPv6 address in brackets, [::1]:9000");
    }
    String host = colon < 0 ? entry : entry.substring(0, colon);
    if (!host.matches("[A-Za-z0-9._-]+")) {
      throw invalid(entry, "has no valid host name; write host:port");
    }
    return new Endpoint(host, colon < 0 ? DEFAULT_PORT : port(entry, entry.substring(colon + 1)));
  }

  private static int port(String entry, String text) {
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    if (port < 1 || port > 65535) {
      throw invalid(entry, "has no valid port; give a number from 1 to 65535, or none for 9000");
    }
    return port;
  }

  private static SfException invalid(String entry, String what) {
    // Neither user and password of a URL nor a key swallowed by ';;' may be shown.
    String shown = entry.replaceAll("^.*@", "…@").replaceAll("[;=].*$", "…");
    return new SfException(
        ErrorCode.CONFIG_INVALID_VALUE, "addr entry '" + shown + "' " + what + ".");
  }
}
