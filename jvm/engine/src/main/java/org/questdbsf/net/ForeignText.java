package org.questdbsf.net;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Makes texts of a server or a proxy fit for exceptions, logs and screens: what we logged in with
 * is cut out, since some repeat the request in their answer, and control characters become spaces.
 */
final class ForeignText {
  /** Instead of a secret. */
  private static final String CUT = "***";

  /** Control and format characters, with those that turn the direction, and line separators. */
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+");

  private static final String BASIC = "Basic ";

  /** A shorter secret is cut out where it stands by itself only: it may be a part of many words. */
  private static final int LONG = 8;

  /** Longest first: some hold others. */
  private final List<Pattern> secrets;

  private ForeignText(Set<String> secrets) {
    this.secrets =
        secrets.stream()
            .filter(secret -> !secret.isEmpty())
            .sorted(Comparator.comparing(String::length).reversed())
            .map(ForeignText::pattern)
            .toList();
  }

  private static Pattern pattern(String secret) {
    String quoted = Pattern.quote(secret);
    return Pattern.compile(
        secret.length() < LONG ? "(?<![\\p{L}\\p{N}])" + quoted + "(?![\\p{L}\\p{N}])" : quoted);
  }

  /**
   * For answers to a request.
   *
   * @param authorization the request's header, or null where it had none
   */
  static ForeignText of(String authorization) {
    Set<String> secrets = new LinkedHashSet<>();
    if (authorization != null) {
      String value = authorization.substring(authorization.indexOf(' ') + 1);
      addForms(secrets, value);
      if (authorization.startsWith(BASIC)) {
        String pair = decoded(value);
        addForms(secrets, pair);
        addForms(secrets, pair.substring(pair.indexOf(':') + 1));
      }
    }
    return new ForeignText(secrets);
  }

  private static String decoded(String base64) {
    try {
      return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return ""; // not base64, so that it hides nothing
    }
  }

  private static void addForms(Set<String> secrets, String secret) {
    byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
    String base64 = Base64.getEncoder().withoutPadding().encodeToString(bytes);
    String urlBase64 = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    for (String form : List.of(secret, base64, urlBase64)) {
      secrets.add(form);
      secrets.add(UNPRINTABLE.matcher(form).replaceAll(" "));
      secrets.add(URLEncoder.encode(form, StandardCharsets.UTF_8));
    }
  }

  /** The text without secrets and control characters; null for null. */
  String clean(String text) {
    if (text == null) {
      return null;
    }
    // Twice: a secret may hold what is unprintable, and may be broken into lines.
    return cut(UNPRINTABLE.matcher(cut(text)).replaceAll(" "));
  }

  private String cut(String text) {
    String left = text;
    for (Pattern secret : secrets) {
      left = secret.matcher(left).replaceAll(CUT);
    }
    return left;
  }
}
