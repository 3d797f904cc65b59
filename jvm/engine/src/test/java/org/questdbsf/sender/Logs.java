package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.function.Executable;

/** What is logged, at INFO and above. */
final class Logs {
  private Logs() {}

  /** What is logged meanwhile: to a file where the build says so, else to standard error. */
  static String of(Executable steps) throws Exception {
    String file = System.getProperty("org.slf4j.simpleLogger.logFile");
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    long begin = file != null && Files.exists(Path.of(file)) ? Files.size(Path.of(file)) : 0;
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      assertDoesNotThrow(steps);
    } finally {
      System.setErr(before);
    }
    byte[] bytes = file == null ? log.toByteArray() : Files.readAllBytes(Path.of(file));
    return new String(bytes, (int) begin, (int) (bytes.length - begin), StandardCharsets.UTF_8);
  }
}
