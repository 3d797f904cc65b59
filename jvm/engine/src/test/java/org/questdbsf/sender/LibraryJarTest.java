package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryJarTest {
  private static final String ENTRY = "org/questdbsf/sender/version.txt";

  @TempDir Path dir;

  @Test
  void theRunningClassesKnowTheirVersionAndPlace() {
    LibraryJar loaded = LibraryJar.loaded();
    assertFalse(loaded.version().isBlank());
    assertTrue(Files.exists(Path.of(loaded.place())), loaded.place());
    assertEquals(loaded, LibraryJar.seenBy(LibraryJar.class.getClassLoader()).get(0));
  }

  @Test
  void othersOnTheClassPathAreSeenAfterIt() throws IOException {
    Path jar = jar("with space.jar", "0.0.8");
    Path classes = dir.resolve("classes");
    Files.createDirectories(classes.resolve(ENTRY).getParent());
    Files.writeString(classes.resolve(ENTRY), "0.0.9");
    try (URLClassLoader loader = loader(jar, classes)) {
      assertEquals(
          List.of(
              LibraryJar.loaded(),
              new LibraryJar("0.0.8", jar.toString()),
              new LibraryJar("0.0.9", classes.toString())),
          LibraryJar.seenBy(loader));
    }
  }

  private Path jar(String name, String version) throws IOException {
    Path jar = dir.resolve(name);
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry(ENTRY));
      out.write(version.getBytes());
    }
    return jar;
  }

  private static URLClassLoader loader(Path... places) throws IOException {
    URL[] urls = new URL[places.length];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = places[i].toUri().toURL();
    }
    // Not below the tests' own class path, on which the library may be more than once.
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }
}
