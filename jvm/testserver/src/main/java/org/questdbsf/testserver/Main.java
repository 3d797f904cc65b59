package org.questdbsf.testserver;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** The test server as a program; {@code --help} lists the options. */
public final class Main {
  private static final String HELP =
      """
      questdb-sf test server: QWP in front of a real QuestDB 9.3.4. A test fixture, not QuestDB 10.

      usage: java -jar questdb-sf-testserver-VERSION-all.jar --root DIR [options]

        --root DIR            database root, made if missing; state survives a restart on it
        --port N              first port to listen on (default 0: a free one)
        --ports N             how many ports, each with a script of its own (default 1); they
                              follow the first one, or are free ones where that is 0
        --host H              address to listen on (default 127.0.0.1)
        --ack-delay-millis N  every acknowledgement leaves this much later (default 0)
        --user U --password P ask for basic authentication
        --token T             ask for a bearer token
        --tls-cert FILE --tls-key FILE           speak TLS: PEM certificate chain, PKCS#8 key
        --tls-keystore FILE --tls-password P     speak TLS: PKCS#12 file
        --help                this text

      Prints {"ready": true, "port": N, "ports": [..], "http": N, "pg": N} when ready.
      SIGTERM and SIGINT stop it cleanly. On every port: GET /qwp/counters, POST /qwp/script.
      """;

  private static final Set<String> OPTIONS =
      Set.of(
          "--root",
          "--port",
          "--ports",
          "--host",
          "--ack-delay-millis",
          "--user",
          "--password",
          "--token",
          "--tls-cert",
          "--tls-key",
          "--tls-keystore",
          "--tls-password");

  private final Map<String, String> values = new LinkedHashMap<>();

  private Main(String[] args) {
    for (int i = 0; i < args.length; i += 2) {
      if (!OPTIONS.contains(args[i])) {
        throw new IllegalArgumentException("unknown option " + args[i] + "; --help lists them");
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
      values.put(args[i], args[i + 1]);
    }
  }

  /** Starts the server and waits for a signal. Exit status 2: wrong options, 1: cannot start. */
  public static void main(String[] args) throws InterruptedException {
    if (List.of(args).contains("--help")) {
      System.out.print(HELP);
      return;
    }
    Main main;
    TestServerOptions options;
    int delay;
    try {
      main = new Main(args);
      options = main.options();
      delay = main.number("--ack-delay-millis", 0);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    // The engine greets on standard output, which belongs to the ready line.
    PrintStream out = System.out;
    System.setOut(System.err);
    TestServer server;
    try {
      server = TestServer.start(options);
    } catch (RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
      return;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "questdb-sf-testserver-stop"));
    List<Integer> ports =
        IntStream.range(0, options.ports().size()).mapToObj(server::port).toList();
    IntStream.range(0, ports.size()).forEach(n -> server.script(n).ackDelayMillis(delay));
    out.println(readyLine(server, ports));
    out.flush();
    new CountDownLatch(1).await();
  }

  private static String readyLine(TestServer server, List<Integer> ports) {
    Map<String, Object> ready = new LinkedHashMap<>();
    ready.put("ready", true);
    ready.put("port", server.port());
    ready.put("ports", ports);
    ready.put("http", server.httpPort());
    ready.put("pg", server.pgPort());
    return Json.write(ready);
  }

  private TestServerOptions options() {
    String root = values.get("--root");
    if (root == null) {
      throw new IllegalArgumentException("--root is needed; --help lists the options");
    }
    int first = number("--port", 0);
    int count = number("--ports", 1);
    List<Integer> ports = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      ports.add(first == 0 ? 0 : first + n);
    }
    return new TestServerOptions(
        Path.of(root),
        values.getOrDefault("--host", "127.0.0.1"),
        ports,
        values.get("--user"),
        values.get("--password"),
        values.get("--token"),
        tls());
  }

  private TlsFiles tls() {
    TlsFiles pem = null;
    if (together("--tls-cert", "--tls-key")) {
      pem = TlsFiles.pem(Path.of(values.get("--tls-cert")), Path.of(values.get("--tls-key")));
    }
    if (together("--tls-keystore", "--tls-password")) {
      if (pem != null) {
        throw new IllegalArgumentException("--tls-cert and --tls-keystore exclude each other");
      }
      return TlsFiles.pkcs12(Path.of(values.get("--tls-keystore")), values.get("--tls-password"));
    }
    return pem;
  }

  private boolean together(String one, String other) {
    if (values.containsKey(one) != values.containsKey(other)) {
      throw new IllegalArgumentException(one + " and " + other + ": give both or none");
    }
    return values.containsKey(one);
  }

  private int number(String option, int otherwise) {
    String value = values.get(option);
    if (value == null) {
      return otherwise;
    }
    try {
      return Integer.parseUnsignedInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(option + " " + value + ": not a number from 0");
    }
  }
}
