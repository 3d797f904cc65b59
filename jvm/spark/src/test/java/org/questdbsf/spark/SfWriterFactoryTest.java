package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.sender.LibraryJar;

class SfWriterFactoryTest {
  private static final String HERE = LibraryJar.loaded().version();

  @Test
  void travelsToAnExecutorOfTheSameVersion() throws Exception {
    assertEquals("SfWriterFactory[null]", arrived(bytes()).toString());
  }

  @Test
  void isRefusedByAnExecutorOfAnotherVersion() throws IOException {
    String other = "x".repeat(HERE.length());
    String sent = new String(bytes(), StandardCharsets.ISO_8859_1);
    byte[] changed = sent.replace(HERE, other).getBytes(StandardCharsets.ISO_8859_1);
    Errors.of(
        ErrorCode.VERSION_MISMATCH,
        () -> arrived(changed),
        "The driver runs version " + other + " (",
        "this executor " + LibraryJar.loaded());
  }

  private static byte[] bytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(new SfWriterFactory(null, new StructType()));
    }
    return bytes.toByteArray();
  }

  private static Object arrived(byte[] bytes) throws IOException, ClassNotFoundException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }
}
