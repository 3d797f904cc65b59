package org.questdbsf.sender;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * A secret, or where to find it: a literal, {@code ${env:NAME}} or {@code ${file:/path}}.
 * References are resolved at each use, so that a rotated secret needs no restart. {@link #toString}
 * shows a reference as it is written, and a literal as {@code ***}. Immutable.
 */
public final class SecretRef {
  private static final int MAX_FILE_BYTES = 1 << 20;

  private final String text;
  private final String key;

  private SecretRef(String key, String text) {
    this.key = key;
    this.text = text;
  }

  /**
   * Reads the text of a secret.
   *
   * @param key the connect-string key it belongs to, for messages
   * @throws SfException CONFIG_INVALID_VALUE if it begins like a reference and is none
   */
  public static SecretRef parse(String key, String text) {
    if (text.startsWith("${")) {
      boolean known = text.startsWith("${env:") || text.startsWith("${file:");
      if (!known || !text.endsWith("}") || argument(text).isBlank()) {
        throw new SfException(
            ErrorCode.CONFIG_INVALID_VALUE,
            key
                + " begins with ${ but is no reference that is known; give ${env:NAME} or"
                + " ${file:/path}.");
      }
    }
    return new SecretRef(key, text);
  }

  /** Whether the text names where the secret is rather than being it. */
  public boolean isReference() {
    return text.startsWith("${");
  }

  /**
   * The secret as of now. One line end at the end of a file is not part of it.
   *
   * @throws SfException SECRET_UNRESOLVED if the variable is not set, or the file cannot be read
   */
  public String resolve() {
    if (!isReference()) {
      return text;
    }
    String name = argument(text);
    return text.startsWith("${env:") ? fromEnvironment(name) : fromFile(name);
  }

  /** The text as written, secret and all: only for building a connect string again. */
  String reveal() {
    return text;
  }

  private static String argument(String text) {
    return text.substring(text.indexOf(':') + 1, text.length() - 1);
  }

  private String fromEnvironment(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) {
      throw unresolved("environment variable " + name + " is not set in this process", null);
    }
    return value;
  }

  private String fromFile(String name) {
    String value;
    try {
      Path path = Path.of(name);
      if (Files.size(path) > MAX_FILE_BYTES) {
        throw unresolved("file " + name + " is larger than " + MAX_FILE_BYTES + " bytes", null);
      }
      value = Files.readString(path);
    } catch (IOException | InvalidPathException e) {
      throw unresolved("file " + name + " cannot be read (" + e + ")", e);
    }
    String secret = value.endsWith("\n") ? value.substring(0, value.length() - 1) : value;
    secret = secret.endsWith("\r") ? secret.substring(0, secret.length() - 1) : secret;
    if (secret.isEmpty()) {
      throw unresolved("file " + name + " is empty", null);
    }
    return secret;
  }

  private SfException unresolved(String why, Exception cause) {
    return new SfException(
        ErrorCode.SECRET_UNRESOLVED,
        key
            + "="
            + text
            + " cannot be resolved: "
            + why
            + "; provide it, the next connect reads it again.",
        cause);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SecretRef ref && ref.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** The reference as written; {@code ***} for a literal. */
  @Override
  public String toString() {
    return isReference() ? text : "***";
  }
}
