package org.questdbsf.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * Carries a {@link TaskReport} from a task to the driver. As bytes, since Spark writes it with
 * whatever serializer the user chose, and Kryo cannot write records.
 */
final class SfCommitMessage implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] bytes;

  SfCommitMessage(TaskReport report) {
    ByteArrayOutputStream buffer = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(buffer)) {
      out.writeObject(report);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not in memory
    }
    this.bytes = buffer.toByteArray();
  }

  TaskReport report() {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return (TaskReport) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not in memory
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("driver and executors run different versions", e);
    }
  }

  @Override
  public String toString() {
    return "SfCommitMessage[" + bytes.length + " bytes]";
  }
}
