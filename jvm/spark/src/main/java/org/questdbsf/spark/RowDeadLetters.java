package org.questdbsf.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Rows of one task that could not be encoded, as lines of JSON: reason, row number, the row. The
 * file shows under its name when the task commits; an aborted task takes it away, also where it was
 * aborted after that. One thread.
 */
final class RowDeadLetters {
  private final String dir;
  private final String name;
  private final StructType schema;
  private final long maxRows;
  private FileSystem files;
  private FSDataOutputStream out;
  private Path shown; // the file under its name
  private long rows;

  /**
   * For one task attempt.
   *
   * @param name file name without its ending; unique to the attempt
   */
  RowDeadLetters(String dir, String name, StructType schema, long maxRows) {
    this.dir = dir;
    this.name = DeadLetterFiles.safe(name);
    this.schema = schema;
    this.maxRows = maxRows;
  }

  /**
   * Keeps a row.
   *
   * @throws SfException the row's error, if there were more than {@code max_dead_letter_rows}
   */
  void add(InternalRow row, long number, SfException reason) throws IOException {
    if (rows >= maxRows) {
      throw new SfException(
          reason.code(),
          "more than max_dead_letter_rows="
              + maxRows
              + " rows of this task cannot be written; the next: "
              + RowEncoder.withoutCode(reason.code(), reason.getMessage()),
          reason);
    }
    if (out == null) {
      Path parent = new Path(dir);
      files = DeadLetterFiles.of(parent);
      DeadLetterFiles.makeDirectory(files, parent);
      out = DeadLetterFiles.create(files, hidden());
    }
    StringBuilder line = new StringBuilder(256).append("{\"reason\":");
    JsonText.quote(line, reason.getMessage());
    line.append(",\"row_number\":").append(number).append(",\"row\":");
    JsonText.struct(line, row, schema, JsonText.Invalid.SHOWN);
    out.write(line.append("}\n").toString().getBytes(StandardCharsets.UTF_8));
    rows++;
  }

  long rows() {
    return rows;
  }

  /** Forces the file and gives it its name. */
  void commit() throws IOException {
    if (out != null) {
      out.hsync();
      out.close();
      out = null;
      Path path = new Path(dir, name + ".jsonl");
      if (!files.rename(hidden(), path)) {
        throw new IOException("cannot rename " + hidden() + " to " + path);
      }
      shown = path;
    }
  }

  /**
   * Takes the file away; the rows come again with the next attempt.
   *
   * @throws SfException if it cannot be taken away
   */
  void abort() {
    if (files == null) {
      return;
    }
    Path file = shown == null ? hidden() : shown;
    try {
      if (out != null) {
        out.close();
      }
      files.delete(file, false);
    } catch (IOException e) {
      throw new SfException(
          ErrorCode.DISK_FAILED, "cannot remove " + file + " of an aborted task: " + e, e);
    } finally {
      out = null;
      files = null;
    }
  }

  private Path hidden() {
    return new Path(dir, "." + name + ".tmp");
  }
}
