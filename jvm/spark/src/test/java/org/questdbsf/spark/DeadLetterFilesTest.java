package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.Category;
import org.questdbsf.sender.Policy;
import org.questdbsf.sender.SenderError;

/** Dead letters have rows in them: nobody else on the host may read them. */
class DeadLetterFilesTest {
  @TempDir Path temporary;

  @Test
  void rowsAreForTheirOwnerOnly() throws Exception {
    Path dir = temporary.resolve("rows");
    StructType schema = new StructType().add("x", DataTypes.LongType);
    RowDeadLetters letters = new RowDeadLetters(dir.toString(), "rows-1", schema, 10);
    SfException reason = new SfException(ErrorCode.VALUE_INVALID, "no");
    letters.add(new GenericInternalRow(new Object[] {7L}), 1, reason);
    assertOwnersOnly(dir);
    letters.commit();
    assertOwnersOnly(dir);
  }

  @Test
  void framesAreForTheirOwnerOnly() throws Exception {
    Path dir = temporary.resolve("above/frames");
    SenderError error =
        new SenderError(
            Category.WRITE_ERROR, Policy.DROP, 9, 0, 0, 0, "t", 1, "no", "h", Instant.EPOCH, null);
    new FrameDeadLetters(dir.toString(), "query").store("slot", 0, new byte[] {1}, error);
    assertOwnersOnly(dir);
  }

  private static void assertOwnersOnly(Path dir) throws Exception {
    assertEquals("rwx------", permissions(dir));
    try (Stream<Path> files = Files.list(dir)) {
      List<Path> letters = files.filter(file -> !file.toString().endsWith(".crc")).toList();
      assertFalse(letters.isEmpty());
      for (Path letter : letters) {
        assertEquals("rw-------", permissions(letter), letter.toString());
      }
    }
  }

  private static String permissions(Path path) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
