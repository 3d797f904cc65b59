package org.questdbsf.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * {@code make hostile}: every mode, one after the other. Progress goes to standard error, one JSON
 * line to standard output. Exit status 0 when every mode ended as it has to and no row was lost.
 * Arguments: parts of the names of the modes to run.
 */
public final class Hostile {
  private Hostile() {}

  /** Runs the modes whose names have one of the arguments in them, or all. */
  public static void main(String[] parts) throws Exception {
    List<Mode> modes =
        Mode.all().stream()
            .filter(mode -> parts.length == 0 || Stream.of(parts).anyMatch(mode.name()::contains))
            .toList();
    int failed = 0;
    long lost = 0;
    for (Mode mode : modes) {
      Trial.Result result = run(mode);
      failed += result.passed() ? 0 : 1;
      lost += result.lost().size();
      System.err.printf(
          "%-50s %-9s %6d ms%n",
          mode.name(), result.passed() ? mode.end() : "FAILED", result.millis());
      result.faults().forEach(fault -> System.err.println("    " + fault));
      if (!result.lost().isEmpty()) {
        System.err.println("    lost: rows " + result.lost());
      }
    }
    System.out.printf(
        "{\"modes\": %d, \"failed\": %d, \"rows_lost\": %d}%n", modes.size(), failed, lost);
    System.exit(failed == 0 && !modes.isEmpty() ? 0 : 1);
  }

  static Trial.Result run(Mode mode) throws Exception {
    Path directory = Files.createTempDirectory("hostile");
    try {
      return Trial.run(mode, directory);
    } finally {
      delete(directory);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      paths.sorted(Comparator.reverseOrder()).forEach(Hostile::deleteOne);
    }
  }

  private static void deleteOne(Path path) {
    try {
      Files.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
