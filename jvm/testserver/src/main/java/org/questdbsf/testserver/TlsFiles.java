package org.questdbsf.testserver;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Where the server's certificate and key are: either two PEM files (certificate chain, PKCS#8 key)
 * or one PKCS#12 file that holds both.
 */
public final class TlsFiles {
  private final Path certificate;
  private final Path key;
  private final Path keyStore;
  private final String password;

  private TlsFiles(Path certificate, Path key, Path keyStore, String password) {
    this.certificate = certificate;
    this.key = key;
    this.keyStore = keyStore;
    this.password = password;
  }

  /** Two PEM files. The key must not be encrypted. */
  public static TlsFiles pem(Path certificateChain, Path key) {
    return new TlsFiles(
        Objects.requireNonNull(certificateChain), Objects.requireNonNull(key), null, null);
  }

  /** One PKCS#12 file and its password. */
  public static TlsFiles pkcs12(Path keyStore, String password) {
    return new TlsFiles(
        null, null, Objects.requireNonNull(keyStore), Objects.requireNonNull(password));
  }

  boolean isPem() {
    return keyStore == null;
  }

  Path certificate() {
    return certificate;
  }

  Path key() {
    return key;
  }

  Path keyStore() {
    return keyStore;
  }

  char[] password() {
    return password.toCharArray();
  }

  /** Names the files, never the password. */
  @Override
  public String toString() {
    return isPem() ? "pem " + certificate : "pkcs12 " + keyStore;
  }
}
