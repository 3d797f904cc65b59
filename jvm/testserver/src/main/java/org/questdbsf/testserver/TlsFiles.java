package org.questdbsf.testserver;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;

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

  /** What listeners need; {@link IllegalStateException} names the file that cannot be used. */
  SslContext context() {
    try {
      return builder().sslProvider(SslProvider.JDK).build();
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new IllegalStateException("TLS: cannot use " + this, e);
    }
  }

  private SslContextBuilder builder() throws GeneralSecurityException, IOException {
    if (keyStore == null) {
      return SslContextBuilder.forServer(certificate.toFile(), key.toFile());
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keyStore)) {
      store.load(in, password.toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password.toCharArray());
    return SslContextBuilder.forServer(keys);
  }

  /** Names the files, never the password. */
  @Override
  public String toString() {
    return keyStore == null ? "pem " + certificate : "pkcs12 " + keyStore;
  }
}
