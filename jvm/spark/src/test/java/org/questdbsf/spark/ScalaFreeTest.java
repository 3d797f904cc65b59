package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One jar serves Scala 2.12 and 2.13 only while no class refers to Scala's library. */
class ScalaFreeTest {
  @Test
  void noClassRefersToScala() throws Exception {
    Path root = Path.of(SfTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> found = new ArrayList<>();
    int classes = 0;
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        classes++;
        for (String text : texts(file)) {
          if (text.contains("scala/") || text.startsWith("scala.")) {
            found.add(file.getFileName() + ": " + text);
          }
        }
      }
    }
    assertTrue(classes > 30, "classes: " + classes);
    assertEquals(List.of(), found);
  }

  /** The UTF-8 entries of a class file's constant pool, where every name and descriptor is. */
  private static List<String> texts(Path file) throws IOException {
    List<String> texts = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      in.readInt();
      in.readInt();
      int count = in.readUnsignedShort();
      for (int i = 1; i < count; i++) {
        int tag = in.readUnsignedByte();
        switch (tag) {
          case 1 -> texts.add(in.readUTF());
          case 3, 4, 9, 10, 11, 12, 17, 18 -> in.readInt();
          case 5, 6 -> {
            in.readLong();
            i++; // takes two entries
          }
          case 7, 8, 16, 19, 20 -> in.readUnsignedShort();
          case 15 -> {
            in.readUnsignedByte();
            in.readUnsignedShort();
          }
          default -> throw new IOException("tag " + tag + " in " + file);
        }
      }
    }
    return texts;
  }
}
