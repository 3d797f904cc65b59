package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One port for upgrade, control and everything else; credentials and TLS for all of it. */
@Timeout(90)
class HttpTest {
  @TempDir Path temp;

  private static HttpResponse<String> get(HttpClient client, URI uri, String... headers)
      throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static URI exec(String base, String sql) {
    return URI.create(base + "/exec?query=" + URLEncoder.encode(sql, StandardCharsets.UTF_8));
  }

  @Test
  void everythingElseIsTheRealServers() throws Exception {
    try (TestServer server = TestServer.start()) {
      String base = "http://127.0.0.1:" + server.port();
      // One client: its connections are kept alive and see all kinds of requests in turn.
      HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
      for (int round = 0; round < 3; round++) {
        assertTrue(get(client, exec(base, "SELECT 1")).body().contains("\"dataset\":[[1]]"));
        assertTrue(get(client, URI.create(base + "/index.html")).body().contains("<html"));
        assertTrue(get(client, URI.create(base + "/qwp/counters")).body().contains("this_port"));
        assertEquals(400, get(client, exec(base, "SELECT nonsense")).statusCode());
        assertEquals(404, get(client, URI.create(base + "/qwp/other")).statusCode());
      }
      // Much more than one buffer, both ways.
      String rows =
          get(client, exec(base, "SELECT x, rnd_str(50,50,0) FROM long_sequence(50000)")).body();
      assertTrue(rows.endsWith("\"count\":50000}"), "length " + rows.length());
      StringBuilder ilp = new StringBuilder();
      for (int i = 0; i < 50_000; i++) {
        ilp.append("ilp,s=a v=").append(i).append("i ").append(i + 1).append('\n');
      }
      HttpRequest post =
          HttpRequest.newBuilder(URI.create(base + "/write"))
              .expectContinue(true)
              .timeout(Duration.ofSeconds(20))
              .POST(HttpRequest.BodyPublishers.ofString(ilp.toString()))
              .build();
      assertEquals(204, client.send(post, HttpResponse.BodyHandlers.ofString()).statusCode());
      server.awaitRows("ilp", 50_000);

      server.script().httpStatus(405);
      assertEquals(405, get(client, exec(base, "SELECT 1")).statusCode());
      assertEquals(200, get(client, URI.create(base + "/qwp/counters")).statusCode());
      HttpRequest script =
          HttpRequest.newBuilder(URI.create(base + "/qwp/script"))
              .POST(HttpRequest.BodyPublishers.ofString("{\"reset\": true}"))
              .build();
      assertEquals(200, client.send(script, HttpResponse.BodyHandlers.ofString()).statusCode());
      assertEquals(200, get(client, exec(base, "SELECT 1")).statusCode());
    }
  }

  @Test
  void requestsMayComeAllAtOnce() throws Exception {
    try (TestServer server = TestServer.start();
        Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", server.port()));
      socket.setSoTimeout(20_000);
      OutputStream out = socket.getOutputStream();
      String get = " HTTP/1.1\r\nHost: x\r\n\r\n";
      out.write(
          ("GET /exec?query=SELECT%201"
                  + get
                  + "GET /qwp/counters"
                  + get
                  + "GET /qwp/nothing"
                  + get)
              .getBytes(StandardCharsets.US_ASCII));
      String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int first = all.indexOf("dataset");
      int second = all.indexOf("rows_received");
      int third = all.indexOf("404 Not Found");
      assertTrue(0 < first && first < second && second < third, all);
    }
  }

  @Test
  void anUpgradeHasToBeOne() throws Exception {
    try (TestServer server = TestServer.start()) {
      try (RawClient client = RawClient.open(server.port(), "Origin: http://x")) {
        assertEquals(400, client.status());
      }
      try (RawClient client = RawClient.open(server.port(), "Sec-WebSocket-Version: 12")) {
        assertEquals(426, client.status());
        assertEquals("13", client.header("Sec-WebSocket-Version"));
      }
      try (RawClient client =
          RawClient.open(server.port(), "Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!!!")) {
        assertEquals(400, client.status());
      }
      HttpClient client = HttpClient.newHttpClient();
      URI plain = URI.create("http://127.0.0.1:" + server.port() + "/write/v4");
      assertEquals(400, get(client, plain).statusCode());
      HttpRequest post =
          HttpRequest.newBuilder(plain).POST(HttpRequest.BodyPublishers.ofString("x")).build();
      HttpResponse<String> refusal = client.send(post, HttpResponse.BodyHandlers.ofString());
      assertEquals(405, refusal.statusCode());
      assertEquals("Method POST not supported\n", refusal.body());
      assertEquals(5, server.counters().upgradesRefused());
    }
  }

  @Test
  void credentialsAreAskedForEverywhere() throws Exception {
    TestServerOptions options =
        TestServerOptions.defaults().withUser("user", "pass:word").withToken("token");
    try (TestServer server = TestServer.start(options)) {
      String base = "http://127.0.0.1:" + server.port();
      HttpClient client = HttpClient.newHttpClient();
      String basic =
          "Basic "
              + Base64.getEncoder()
                  .encodeToString("user:pass:word".getBytes(StandardCharsets.UTF_8));
      for (String path : new String[] {"/exec?query=SELECT%201", "/qwp/counters", "/index.html"}) {
        URI uri = URI.create(base + path);
        HttpResponse<String> refusal = get(client, uri);
        assertEquals(401, refusal.statusCode(), path);
        assertTrue(refusal.headers().firstValue("WWW-Authenticate").isEmpty(), path);
        assertEquals(401, get(client, uri, "Authorization", basic + "x").statusCode(), path);
        assertEquals(200, get(client, uri, "Authorization", basic).statusCode(), path);
        assertEquals(200, get(client, uri, "Authorization", "Bearer token").statusCode(), path);
      }
      try (RawClient ws = RawClient.open(server.port())) {
        assertEquals(401, ws.status());
      }
      try (RawClient ws = RawClient.open(server.port(), "Authorization: Bearer token")) {
        assertEquals(101, ws.status());
      }
      assertEquals(1, server.counters().upgradesRefused());
      assertTrue(!options.toString().contains("pass:word"));
    }
  }

  @Test
  void tlsFromPkcs12() throws Exception {
    Path store = keyStore();
    speakTls(TlsFiles.pkcs12(store, "secret"), store);
  }

  @Test
  void tlsFromPem() throws Exception {
    Path store = keyStore();
    KeyStore keys = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
    Path certificate = pem("CERTIFICATE", keys.getCertificate("test").getEncoded());
    Path key = pem("PRIVATE KEY", keys.getKey("test", "secret".toCharArray()).getEncoded());
    speakTls(TlsFiles.pem(certificate, key), store);
  }

  /** The JDK's own clients, of HTTP and of WebSocket, through TLS. */
  private void speakTls(TlsFiles files, Path trusted) throws Exception {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(KeyStore.getInstance(trusted.toFile(), "secret".toCharArray()));
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
    HttpClient client = HttpClient.newBuilder().sslContext(tls).build();
    try (TestServer server = TestServer.start(TestServerOptions.defaults().withTls(files))) {
      String address = "localhost:" + server.port();
      assertEquals(200, get(client, exec("https://" + address, "SELECT 1")).statusCode());
      CompletableFuture<ByteBuffer> reply = new CompletableFuture<>();
      WebSocket socket =
          client
              .newWebSocketBuilder()
              .buildAsync(
                  URI.create("wss://" + address + "/api/v4/write"),
                  new WebSocket.Listener() {
                    @Override
                    public CompletionStage<?> onClose(WebSocket ws, int code, String reason) {
                      reply.completeExceptionally(new IOException("close " + code + reason));
                      return null;
                    }

                    @Override
                    public CompletionStage<?> onBinary(
                        WebSocket ws, ByteBuffer data, boolean last) {
                      ByteBuffer copy = ByteBuffer.allocate(data.remaining()).put(data).flip();
                      reply.complete(copy);
                      return null;
                    }
                  })
              .get(20, TimeUnit.SECONDS);
      socket.sendBinary(ByteBuffer.wrap(Messages.rows("tls", 0, 1000)), true).join();
      assertEquals(0, reply.get(20, TimeUnit.SECONDS).get(0));
      socket.abort();
      server.awaitRows("tls", 1000);
    }
  }

  private Path keyStore() throws Exception {
    Path store = temp.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "test",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=DNS:localhost,IP:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-storepass",
                "secret",
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, keytool.waitFor(), said);
    return store;
  }

  private Path pem(String what, byte[] der) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return Files.writeString(
        temp.resolve(what + ".pem"),
        "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
  }

  @Test
  void optionsThatCannotBe() {
    for (Map.Entry<String, Runnable> wrong :
        Map.<String, Runnable>of(
                "password", () -> TestServerOptions.defaults().withUser("user", null),
                "port 70000", () -> TestServerOptions.defaults().withPorts(70_000))
            .entrySet()) {
      IllegalArgumentException e =
          org.junit.jupiter.api.Assertions.assertThrows(
              IllegalArgumentException.class, wrong.getValue()::run);
      assertTrue(e.getMessage().contains(wrong.getKey()), e.getMessage());
    }
  }
}
