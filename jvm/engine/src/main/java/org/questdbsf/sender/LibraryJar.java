package org.questdbsf.sender;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A jar with this library, or a directory of its classes. The version is in a file of the engine's
 * own and not asked of the manifest, which whoever packs the library into another jar replaces.
 *
 * @param version as the build named it
 * @param place the path of the jar or directory, or its URL where it is no file
 */
public record LibraryJar(String version, String place) {
  private static final String ENTRY = "org/questdbsf/sender/version.txt";
  private static final LibraryJar LOADED = of(LibraryJar.class.getResource("version.txt"));

  /** The one that the running classes come from. */
  public static LibraryJar loaded() {
    return LOADED;
  }

  /**
   * All that a class loader and its parents see, first the one that the running classes come from.
   *
   * @throws UncheckedIOException if one cannot be read
   */
  public static List<LibraryJar> seenBy(ClassLoader loader) {
    List<LibraryJar> seen = new ArrayList<>(List.of(LOADED));
    try (Stream<URL> entries = loader.resources(ENTRY)) {
      entries.map(LibraryJar::of).filter(jar -> !jar.equals(LOADED)).forEach(seen::add);
    }
    return seen;
  }

  private static LibraryJar of(URL entry) {
    try {
      URLConnection connection = entry.openConnection();
      connection.setUseCaches(false); // a cached jar would stay open, and be read when it is gone
      try (InputStream in = connection.getInputStream()) {
        String version = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        return new LibraryJar(version, placeOf(entry.toString()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + entry, e);
    }
  }

  /**
   * What is around the entry: {@code jar:file:/a/b.jar!/} and {@code file:/a/classes/} as paths.
   */
  private static String placeOf(String entry) {
    String around = entry.substring(0, entry.length() - ENTRY.length());
    String whole = around.replaceFirst("^jar:", "").replaceFirst("!?/$", "");
    return whole.startsWith("file:") ? Path.of(URI.create(whole)).toString() : whole;
  }

  /** For messages. */
  @Override
  public String toString() {
    return version + " (" + place + ")";
  }
}
