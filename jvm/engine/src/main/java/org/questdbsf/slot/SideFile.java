package org.questdbsf.slot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The small text files of a slot: {@code .failed} (its presence keeps adopters away, the text is
 * for people), {@code .last_error} (for people), {@code .target} (where the frames belong). Written
 * whole or not at all: another name, force, rename, force of the directory.
 */
final class SideFile {
  static final String FAILED = ".failed";
  static final String LAST_ERROR = ".last_error";
  static final String TARGET = ".target";
  private static final String TEMPORARY = ".tmp";
  private static final int MAX_BYTES = 1 << 20;

  private SideFile() {}

  static boolean isTemporary(String name) {
    return name.startsWith(".") && name.endsWith(TEMPORARY);
  }

  static void write(Path directory, String name, String text, DiskIo io) throws IOException {
    Path temporary = directory.resolve(name + TEMPORARY);
    io.rewrite(temporary, text.getBytes(StandardCharsets.UTF_8));
    io.force(temporary);
    io.rename(temporary, directory.resolve(name));
    io.forceDirectory(directory);
  }

  /** Reads {@code .target}; empty when there is none. */
  static Map<String, String> readTarget(Path directory, DiskIo io) throws IOException {
    Path file = directory.resolve(TARGET);
    if (!io.exists(file)) {
      return Map.of();
    }
    return decode(new String(io.read(file, MAX_BYTES), StandardCharsets.UTF_8));
  }

  /** A line {@code key=value} for each entry, by key; backslash and line ends are escaped. */
  static String encode(Map<String, String> entries) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(entries)
        .forEach(
            (key, value) -> {
              if (!key.matches("[A-Za-z0-9_.-]+")) {
                throw new IllegalArgumentException("not a key for " + TARGET + ": " + key);
              }
              text.append(key).append('=').append(escape(value)).append('\n');
            });
    return text.toString();
  }

  /** The opposite; lines without {@code =} are skipped. */
  static Map<String, String> decode(String text) {
    Map<String, String> entries = new LinkedHashMap<>();
    for (String line : text.split("\n")) {
      int eq = line.indexOf('=');
      if (eq > 0) {
        entries.put(line.substring(0, eq), unescape(line.substring(eq + 1)));
      }
    }
    return entries;
  }

  private static String escape(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
  }

  private static String unescape(String value) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '\\' && i + 1 < value.length()) {
        char escaped = value.charAt(++i);
        text.append(escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped);
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }
}
