package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors are told to end while their JVM shuts down. */
@Timeout(120)
class ShutdownTest {
  /** An executor that never had a lane. */
  public static final class WithoutLanes {
    private WithoutLanes() {}

    /** Ends at once; Spark tells the plugin from a shutdown hook. */
    public static void main(String[] args) {
      Runtime.getRuntime().addShutdownHook(new Thread(Push::disconnect));
    }
  }

  @Test
  void anExecutorThatNeverHadALaneEndsWithoutATrace() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                WithoutLanes.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue());
    assertTrue(!said.contains("Exception") && !said.contains("Error"), said);
  }
}
