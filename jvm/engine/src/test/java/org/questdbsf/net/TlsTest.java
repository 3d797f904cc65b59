package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.ConnectFailure.Kind;
import org.questdbsf.net.RawServer.Script;

/** TLS with certificates made by keytool for the run. */
class TlsTest {
  private static final String PASSWORD = "geheim";

  @TempDir static Path dir;

  private final RecordedEvents events = new RecordedEvents();

  @BeforeAll
  static void makeCertificates() throws Exception {
    makeServer("good", "dns:localhost,ip:127.0.0.1");
    makeServer("other", "dns:elsewhere.example");
    for (String type : List.of("PKCS12", "JKS")) {
      keytool(
          "-importcert",
          "-noprompt",
          "-alias",
          "good",
          "-file",
          pem("good").toString(),
          "-keystore",
          dir.resolve("roots." + type).toString(),
          "-storetype",
          type,
          "-storepass",
          PASSWORD);
    }
    Files.writeString(
        dir.resolve("both.pem"),
        "# two roots - with words between\n"
            + Files.readString(pem("other"))
            + "and\n"
            + Files.readString(pem("good")));
  }

  private static void makeServer(String name, String names) throws Exception {
    String store = dir.resolve(name + ".p12").toString();
    keytool(
        "-genkeypair",
        "-alias",
        "k",
        "-keyalg",
        "EC",
        "-dname",
        "CN=" + name,
        "-ext",
        "SAN=" + names,
        "-validity",
        "30",
        "-keystore",
        store,
        "-storetype",
        "PKCS12",
        "-storepass",
        PASSWORD);
    keytool(
        "-exportcert",
        "-rfc",
        "-alias",
        "k",
        "-file",
        pem(name).toString(),
        "-keystore",
        store,
        "-storepass",
        PASSWORD);
  }

  private static void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    run(command);
  }

  private static String run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), out);
    assertEquals(0, process.exitValue(), out);
    return out;
  }

  private static Path pem(String name) {
    return dir.resolve(name + ".pem");
  }

  private static RawServer server(String certificate, Script script) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (FileInputStream in = new FileInputStream(dir.resolve(certificate + ".p12").toFile())) {
      store.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    InetAddress address = InetAddress.getByName("127.0.0.1");
    return new RawServer(
        (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 50, address),
        script);
  }

  private static ConnectSettings settings(Endpoint e, TlsSettings tls) {
    return new ConnectSettings(List.of(e), true, tls, Credentials.NONE, 5000, 5000, false, "t/1");
  }

  private static TlsSettings roots(String file) {
    return new TlsSettings(true, dir.resolve(file), PASSWORD::toCharArray);
  }

  private void assertConnects(String certificate, String host, TlsSettings tls) throws Exception {
    try (RawServer server =
        server(
            certificate,
            peer -> {
              peer.upgrade();
              byte[] first = peer.readFrame().payload();
              peer.reply(RawServer.ok(0, new TableTxn("t", first.length)));
              assertEquals(1000, peer.readFrame().closeCode());
              peer.close(1000, "");
            })) {
      Endpoint e = new Endpoint(host, server.endpoint().port());
      QwpConnection c = QwpConnection.open(e, settings(e, tls), events);
      QwpConnectionTest.send(c, new byte[300_000]);
      assertEquals(new ServerReply.Ok(0, List.of(new TableTxn("t", 300_000))), events.reply());
      c.close(5000);
      assertTrue(events.closed().orderly());
    }
  }

  private ConnectFailure failureOf(String certificate, String host, TlsSettings tls)
      throws Exception {
    RawServer server = server(certificate, peer -> peer.upgrade());
    try {
      Endpoint e = new Endpoint(host, server.endpoint().port());
      ConnectFailure failure =
          assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, settings(e, tls), events));
      assertEquals(Kind.TRANSPORT, failure.kind());
      assertEquals(List.of(), events.order);
      assertFalse(failure.toString().contains(PASSWORD));
      return failure;
    } finally {
      assertThrows(AssertionError.class, server::close, "the server sees the handshake fail");
    }
  }

  @Test
  void aPortWithTlsIsNamed() throws Exception {
    byte[] alert = {0x15, 3, 3, 0, 2, 2, 10};
    ConnectFailure failure;
    try (RawServer server = new RawServer(peer -> peer.write(alert))) {
      Endpoint e = server.endpoint();
      ConnectSettings plain =
          new ConnectSettings(
              List.of(e), false, TlsSettings.SYSTEM, Credentials.NONE, 5000, 5000, false, "t/1");
      failure = assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, plain, events));
    }
    assertEquals(Kind.TRANSPORT, failure.kind());
    assertTrue(failure.getMessage().contains("wss:: (tls=on)"), failure::getMessage);
    assertFalse(failure.getMessage().chars().anyMatch(Character::isISOControl));
  }

  @ParameterizedTest
  @ValueSource(strings = {"good.pem", "both.pem", "roots.PKCS12", "roots.JKS"})
  void trustsTheRootsGiven(String file) throws Exception {
    assertConnects("good", "localhost", roots(file));
  }

  @Test
  void checksAnAddressAgainstTheAddressesOfTheCertificate() throws Exception {
    assertConnects("good", "127.0.0.1", roots("good.pem"));
  }

  @Test
  void refusesACertificateOfAnotherHost() throws Exception {
    ConnectFailure failure = failureOf("other", "localhost", roots("other.pem"));
    assertTrue(failure.getMessage().contains("TLS handshake failed"), failure.getMessage());
    assertTrue(failure.getMessage().contains("localhost"), failure.getMessage());
    assertInstanceOf(SSLException.class, failure.getCause());
  }

  @Test
  void refusesAnUntrustedCertificate() throws Exception {
    assertInstanceOf(
        SSLException.class, failureOf("good", "localhost", roots("other.pem")).getCause());
    assertInstanceOf(
        SSLException.class, failureOf("good", "localhost", TlsSettings.SYSTEM).getCause());
  }

  @Test
  void takesAnythingWhenToldSo() throws Exception {
    assertConnects("other", "localhost", new TlsSettings(false, null, () -> null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PKCS12", "JKS"})
  void namesWhatIsWrongWithTheRoots(String type) throws Exception {
    Path store = dir.resolve("roots." + type);
    Path empty = Files.writeString(dir.resolve("empty-" + type), "");
    List<TlsSettings> wrong =
        List.of(
            new TlsSettings(true, store, "falsch"::toCharArray),
            new TlsSettings(true, dir.resolve("missing"), () -> null),
            new TlsSettings(true, empty, () -> null));
    for (TlsSettings tls : wrong) {
      Endpoint e = new Endpoint("localhost", 1);
      ConnectFailure failure =
          assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, settings(e, tls), events));
      assertTrue(failure.getMessage().contains(tls.roots().toString()), failure.getMessage());
      assertFalse(failure.toString().contains("falsch"), failure.toString());
    }
  }

  @Test
  void saysThatAPasswordIsMissing() {
    Endpoint e = new Endpoint("localhost", 1);
    TlsSettings tls = new TlsSettings(true, dir.resolve("roots.PKCS12"), () -> null);
    ConnectFailure failure =
        assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, settings(e, tls), events));
    assertTrue(failure.getMessage().contains("tls_roots_password"), failure.getMessage());
  }

  @Test
  void namesAServerThatDoesNotSpeakTls() throws Exception {
    try (RawServer server = new RawServer(peer -> peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"))) {
      Endpoint e = server.endpoint();
      ConnectFailure failure =
          assertThrows(
              ConnectFailure.class,
              () -> QwpConnection.open(e, settings(e, TlsSettings.SYSTEM), events));
      String said = failure.getMessage();
      assertTrue(said.contains("does not speak TLS at this port; use ws:: (tls=off)"), said);
    }
  }

  @Test
  void boundsAHandshakeThatNeverEnds() throws Exception {
    try (RawServer server =
        new RawServer(
            peer -> {
              while (peer.readByte() >= 0) {
                continue;
              }
            })) {
      Endpoint e = server.endpoint();
      ConnectSettings s =
          new ConnectSettings(
              List.of(e), true, TlsSettings.SYSTEM, Credentials.NONE, 5000, 300, false, "t/1");
      ConnectFailure failure =
          assertThrows(ConnectFailure.class, () -> QwpConnection.open(e, s, events));
      assertTrue(
          failure.getMessage().contains("no TLS handshake within 300 ms"), failure.getMessage());
    }
  }

  @Test
  void sqlGoesOverTheSameTls() throws Exception {
    try (RawServer server =
        server(
            "good",
            peer -> {
              peer.readRequest();
              peer.write("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"ddl\":\"OK\"}");
            })) {
      Endpoint e = new Endpoint("localhost", server.endpoint().port());
      SqlOverHttp sql = new SqlOverHttp(settings(e, roots("good.pem")));
      assertEquals(List.of(), sql.query(e, "create table t (x int)").rows());
    }
    RawServer other = server("other", peer -> peer.readRequest());
    Endpoint e = new Endpoint("localhost", other.endpoint().port());
    SqlOverHttp sql = new SqlOverHttp(settings(e, roots("other.pem")));
    SqlFailure failure = assertThrows(SqlFailure.class, () -> sql.query(e, "select 1"));
    assertTrue(failure.getMessage().contains("TLS handshake failed"), failure.getMessage());
    assertThrows(AssertionError.class, other::close);
  }

  /** Spark 4.2 and later start their JVMs with this property. */
  @Test
  void nettysSwitchDoesNotWeakenTheCheck() throws Exception {
    RawServer server = server("other", peer -> peer.upgrade());
    String answer =
        run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                Integer.toString(server.endpoint().port()),
                pem("other").toString()));
    assertTrue(answer.contains("TLS handshake failed"), answer);
    assertThrows(AssertionError.class, server::close);
  }

  /** Connects once and prints what came of it. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
      Endpoint e = new Endpoint("localhost", Integer.parseInt(arguments[0]));
      TlsSettings tls = new TlsSettings(true, Path.of(arguments[1]), () -> null);
      try {
        QwpConnection.open(e, settings(e, tls), new RecordedEvents()).abort();
        System.out.println("connected");
      } catch (ConnectFailure failure) {
        System.out.println(failure.getMessage());
      }
    }
  }
}
