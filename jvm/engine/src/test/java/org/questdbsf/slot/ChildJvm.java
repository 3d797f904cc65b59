package org.questdbsf.slot;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Another JVM with this one's class path. */
final class ChildJvm implements AutoCloseable {
  final Process process;
  private final BufferedReader out;

  /**
   * @param without part of the name of jars to leave out of the class path, null for none
   */
  ChildJvm(Class<?> main, String without, String... args) throws IOException {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(":"))
            .filter(p -> without == null || !p.contains(without))
            .collect(Collectors.joining(":"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash"));
    command.addAll(List.of("-XX:ErrorFile=/dev/null", "-cp", classPath, main.getName()));
    command.addAll(Arrays.asList(args));
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Reads lines until one begins like that, and returns it. */
  String await(String beginning) throws IOException {
    StringBuilder seen = new StringBuilder();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(beginning)) {
        return line;
      }
      seen.append(line).append('\n');
    }
    throw new AssertionError("the child ended without '" + beginning + "':\n" + seen);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
