package org.questdbsf.testserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server as a process: options, signals, and what is on disk after a SIGKILL. */
@Timeout(120)
class ProgramTest {
  @TempDir Path root;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endAll() {
    started.forEach(Process::destroyForcibly);
  }

  private Process run(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    started.add(process);
    return process;
  }

  /** The ready line is the first thing on standard output. */
  private static Map<?, ?> ready(Process process) {
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    try {
      return (Map<?, ?>) Json.parse(out.readLine());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int port(Map<?, ?> ready) {
    return ((Long) ready.get("port")).intValue();
  }

  private static Map<?, ?> counters(Map<?, ?> ready) throws IOException {
    var url = java.net.URI.create("http://127.0.0.1:" + port(ready) + "/qwp/counters").toURL();
    try (var in = url.openStream()) {
      return (Map<?, ?>) Json.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static long count(Map<?, ?> ready, String table, long atLeast) throws Exception {
    SqlClient sql = new SqlClient(((Long) ready.get("http")).intValue());
    long count = 0;
    for (int i = 0; i < 1000 && count < atLeast; i++) {
      count = (Long) sql.rows("SELECT count() FROM " + table).get(0)[0];
      TimeUnit.MILLISECONDS.sleep(10);
    }
    return count;
  }

  @Test
  void rowsAndCountersSurviveSigkill() throws Exception {
    Process first = run("--root", root.toString(), "--ack-delay-millis", "60000");
    Map<?, ?> ready = ready(first);
    assertEquals(true, ready.get("ready"));
    try (RawClient client = RawClient.open(port(ready))) {
      for (int i = 0; i < 20; i++) {
        client.message(Messages.rows("kept", i * 10L, 10));
      }
      client.ping();
      assertEquals(RawClient.PONG, client.read().opcode());
      Map<?, ?> counters = counters(ready);
      assertEquals(200L, counters.get("rows_received"));
      assertEquals(0L, counters.get("rows_acked"));
      assertEquals(200L, counters.get("rows_unacked"));
      // A database that is killed while it makes a table may leave one that it cannot open.
      assertEquals(200, count(ready, "kept", 200));
      first.destroyForcibly().waitFor();
    }

    Process second = run("--root", root.toString());
    ready = ready(second);
    Map<?, ?> counters = counters(ready);
    assertEquals(200L, counters.get("rows_received"));
    assertEquals(20L, counters.get("messages_received"));
    assertEquals(0L, counters.get("rows_unacked"));
    assertEquals(200L, counters.get("rows_unacked_at_last_stop"));
    assertEquals(
        Map.of("kept", Map.of("rows_received", 200L, "rows_acked", 0L)), counters.get("tables"));
    assertEquals(200, count(ready, "kept", 200));
    try (RawClient client = RawClient.open(port(ready))) {
      client.message(Messages.rows("kept", 200, 10));
      assertEquals(0, client.read().sequence());
    }
    assertEquals(210, count(ready, "kept", 210));

    second.destroy();
    assertTrue(second.waitFor(20, TimeUnit.SECONDS), "SIGTERM ends it");
    assertEquals(128 + 15, second.exitValue());
    Process third = run("--root", root.toString());
    ready = ready(third);
    counters = counters(ready);
    assertEquals(210L, counters.get("rows_received"));
    assertEquals(10L, counters.get("rows_acked"));
    assertEquals(0L, counters.get("rows_unacked_at_last_stop"));
    assertEquals(210, count(ready, "kept", 210));
  }

  @Test
  void severalPortsOnOneDatabase() throws Exception {
    Map<?, ?> ready = ready(run("--root", root.toString(), "--ports", "2", "--token", "secret"));
    List<?> ports = (List<?>) ready.get("ports");
    assertEquals(2, ports.size());
    for (Object port : ports) {
      int number = ((Long) port).intValue();
      try (RawClient client = RawClient.open(number)) {
        assertEquals(401, client.status());
      }
      try (RawClient client = RawClient.open(number, "Authorization: Bearer secret")) {
        client.message(Messages.row("both", number));
        assertEquals(0, client.read().sequence());
      }
    }
    assertEquals(2, count(ready, "both", 2));
    Process late = run("--root", root.resolve("other").toString(), "--port", "" + port(ready));
    assertEquals(1, late.waitFor(), "the port is taken");
  }

  @Test
  void wrongOptionsEndWithStatus2() throws Exception {
    for (String[] wrong :
        new String[][] {
          {},
          {"--root"},
          {"--rooot", "x"},
          {"--root", "x", "--port", "y"},
          {"--root", "x", "--user", "u"},
          {"--root", "x", "--tls-cert", "c"}
        }) {
      assertEquals(2, run(wrong).waitFor(), String.join(" ", wrong));
    }
    Process help = run("--help");
    String text = new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, help.waitFor());
    assertTrue(text.contains("--ack-delay-millis"));
  }
}
