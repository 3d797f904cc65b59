package org.questdbsf.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.questdbsf.sender.DeadLetterSink;
import org.questdbsf.sender.SenderError;

/**
 * Keeps dropped frames in {@code dead_letter_dir}: the message as {@code <name>.qwp} and the
 * server's words as {@code <name>.txt}; the name is made of query, lane and FSN. Both are written
 * under another name, forced and renamed, the text first, so that a message that is there is whole
 * and explained.
 */
final class FrameDeadLetters implements DeadLetterSink {
  private final String dir;
  private final String prefix;

  FrameDeadLetters(String dir, String queryId) {
    this.dir = dir;
    this.prefix = DeadLetterFiles.safe(queryId) + "-";
  }

  @Override
  public String store(String slot, long fsn, byte[] frame, SenderError error) throws IOException {
    Path parent = new Path(dir);
    FileSystem files = DeadLetterFiles.of(parent);
    DeadLetterFiles.makeDirectory(files, parent);
    String unique = Long.toHexString(System.nanoTime());
    String name = prefix + DeadLetterFiles.safe(slot) + "-" + fsn + "-" + unique;
    write(files, parent, name + ".txt", error.describe().getBytes(StandardCharsets.UTF_8));
    write(files, parent, name + ".qwp", frame);
    return new Path(parent, name + ".qwp").toString();
  }

  private static void write(FileSystem files, Path parent, String name, byte[] bytes)
      throws IOException {
    Path hidden = new Path(parent, "." + name + ".tmp");
    try (FSDataOutputStream out = DeadLetterFiles.create(files, hidden)) {
      out.write(bytes);
      out.hsync();
    }
    Path path = new Path(parent, name);
    if (!files.rename(hidden, path)) {
      throw new IOException("cannot rename " + hidden + " to " + path);
    }
  }
}
