package org.questdbsf.net;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Makes the TLS part of a connection from {@link TlsSettings}, by the JDK's own provider. */
final class TlsContexts {
  private TlsContexts() {}

  /** Reads the roots; blocking. */
  static SslContext build(TlsSettings settings) throws IOException, GeneralSecurityException {
    SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
    if (!settings.verify()) {
      builder.trustManager(new TrustAll());
    } else if (settings.roots() != null) {
      trust(builder, settings);
    }
    return builder.build();
  }

  /** A handler that tells the server the host's name and, when verifying, checks it. */
  static SslHandler newHandler(
      SslContext context, ByteBufAllocator alloc, Endpoint endpoint, boolean verify) {
    SslHandler handler = context.newHandler(alloc, endpoint.host(), endpoint.port());
    // the exchange that follows has one time-out for TLS and HTTP together
    handler.setHandshakeTimeoutMillis(0);
    if (verify) {
      // Never left to Netty's default: 4.1 does not check names, and Spark 4.2 switches it off by
      // a system property.
      SSLEngine engine = handler.engine();
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
    }
    return handler;
  }

  private static void trust(SslContextBuilder builder, TlsSettings settings)
      throws IOException, GeneralSecurityException {
    byte[] content = read(settings.roots());
    if (new String(content, StandardCharsets.ISO_8859_1).contains("-----BEGIN CERTIFICATE")) {
      builder.trustManager(new ByteArrayInputStream(content));
      return;
    }
    char[] password = settings.rootsPassword().get();
    try {
      KeyStore store = load(content, password);
      if (store.size() == 0) {
        throw new GeneralSecurityException(
            "it holds no certificate that can be read; is tls_roots_password missing?");
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      builder.trustManager(factory);
    } finally {
      if (password != null) {
        Arrays.fill(password, '\0');
      }
    }
  }

  // not by FileChannel, which an interrupt of the connecting thread would close half-way
  private static byte[] read(Path file) throws IOException {
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      return in.readAllBytes();
    }
  }

  private static KeyStore load(byte[] content, char[] password)
      throws IOException, GeneralSecurityException {
    boolean jks =
        content.length > 4
            && content[0] == (byte) 0xfe
            && content[1] == (byte) 0xed
            && content[2] == (byte) 0xfe
            && content[3] == (byte) 0xed;
    KeyStore store = KeyStore.getInstance(jks ? "JKS" : "PKCS12");
    store.load(new ByteArrayInputStream(content), password);
    return store;
  }

  /**
   * For {@code tls_verify=unsafe_off}. The extended class is needed: around a plain
   * X509TrustManager the JDK would put checks of its own.
   */
  private static final class TrustAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
