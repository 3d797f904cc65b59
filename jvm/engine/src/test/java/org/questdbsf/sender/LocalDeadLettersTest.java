package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalDeadLettersTest {
  @TempDir Path dir;

  private static SenderError error() {
    return new SenderError(
        Category.SCHEMA_MISMATCH,
        Policy.DROP,
        3,
        0,
        7,
        7,
        "trades",
        1,
        "column price is SYMBOL",
        "h:9000",
        Instant.EPOCH,
        null);
  }

  @Test
  void keepsFrameAndReasonForTheOwnerOnly() throws IOException {
    Path file = Path.of(new LocalDeadLetters(dir).store("s-0", 7, new byte[] {1, 2, 3}, error()));
    assertEquals(dir.resolve(".rejected/s-0-0000000000000007.qwp"), file);
    assertArrayEquals(new byte[] {1, 2, 3}, Files.readAllBytes(file));
    Path reason = dir.resolve(".rejected/s-0-0000000000000007.txt");
    assertTrue(Files.readString(reason).contains("column price is SYMBOL"));
    for (Path kept : List.of(file, reason)) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)));
    }
    assertEquals(
        "rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
  }

  @Test
  void theSameFrameOnceAndAnotherBesideIt() throws IOException {
    LocalDeadLetters letters = new LocalDeadLetters(dir);
    String first = letters.store("s-0", 7, new byte[] {1}, error());
    assertEquals(first, letters.store("s-0", 7, new byte[] {1}, error()));
    String other = letters.store("s-0", 7, new byte[] {2}, error());
    assertNotEquals(first, other);
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(Path.of(first)));
    assertArrayEquals(new byte[] {2}, Files.readAllBytes(Path.of(other)));
    try (Stream<Path> files = Files.list(dir.resolve(".rejected"))) {
      assertEquals(4, files.count());
    }
  }

  @Test
  void equalRowsThatWereInNoFrameAreTwo() throws IOException {
    LocalDeadLetters letters = new LocalDeadLetters(dir);
    Path first = Path.of(letters.store("s-0", DeadLetterSink.NO_FRAME, new byte[] {1}, error()));
    Path other = Path.of(letters.store("s-0", DeadLetterSink.NO_FRAME, new byte[] {1}, error()));
    assertEquals(dir.resolve(".rejected/s-0-row-0.qwp"), first);
    assertEquals(dir.resolve(".rejected/s-0-row-0-1.qwp"), other);
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(first));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(other));
    assertTrue(Files.exists(dir.resolve(".rejected/s-0-row-0-1.txt")));
  }

  @Test
  void whatIsLeftOfACrashIsInNobodysWay() throws IOException {
    Files.createDirectory(dir.resolve(".rejected"));
    Files.write(dir.resolve(".rejected/s-0-0000000000000007.qwp.tmp"), new byte[] {9});
    Path file = Path.of(new LocalDeadLetters(dir).store("s-0", 7, new byte[] {1}, error()));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(file));
  }

  @Test
  void whatCannotBeWrittenIsAnError() throws IOException {
    Files.write(dir.resolve(".rejected"), new byte[0]);
    LocalDeadLetters letters = new LocalDeadLetters(dir);
    assertThrows(IOException.class, () -> letters.store("s-0", 7, new byte[] {1}, error()));
    LocalDeadLetters nowhere = new LocalDeadLetters(dir.resolve("absent"));
    assertThrows(IOException.class, () -> nowhere.store("s-0", 7, new byte[] {1}, error()));
  }
}
