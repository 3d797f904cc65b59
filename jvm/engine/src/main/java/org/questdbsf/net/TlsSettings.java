package org.questdbsf.net;

import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * How the server's certificate is judged.
 *
 * @param verify true: the chain must lead to a trusted root and the certificate must name the host;
 *     false ({@code tls_verify=unsafe_off}): any certificate is taken
 * @param roots file with the trusted roots, read at each connect: PEM certificates, or a PKCS12 or
 *     JKS store (told apart by content); null: the roots of the JVM
 * @param rootsPassword password of the store, asked for at each connect; may return null for none
 */
public record TlsSettings(boolean verify, Path roots, Supplier<char[]> rootsPassword) {

  /** The JVM's roots, with verification. */
  public static final TlsSettings SYSTEM = new TlsSettings(true, null, () -> null);

  /** Checks that no part is missing. */
  public TlsSettings {
    Objects.requireNonNull(rootsPassword, "rootsPassword");
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "TlsSettings[verify=" + verify + ", roots=" + (roots == null ? "system" : roots) + "]";
  }
}
