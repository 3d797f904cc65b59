package org.questdbsf.spark;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.types.StructType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.LibraryJar;

/** Makes the writers of tasks; travels to the executors. */
final class SfWriterFactory implements DataWriterFactory, StreamingDataWriterFactory {
  private static final long serialVersionUID = 1L;

  /** Epoch of a batch write. */
  static final long NO_EPOCH = -1;

  private final LaneSettings settings;
  private final StructType schema;

  SfWriterFactory(LaneSettings settings, StructType schema) {
    this.settings = settings;
    this.schema = schema;
  }

  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new SfDataWriter(settings, schema, partitionId, taskId, NO_EPOCH);
  }

  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId, long epochId) {
    return new SfDataWriter(settings, schema, partitionId, taskId, epochId);
  }

  /**
   * The version goes first: to another one the rest may be unreadable, or read as something else.
   */
  private void writeObject(ObjectOutputStream out) throws IOException {
    LibraryJar driver = LibraryJar.loaded();
    out.writeUTF(driver.version());
    out.writeUTF(driver.place());
    out.defaultWriteObject();
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    LibraryJar driver = new LibraryJar(in.readUTF(), in.readUTF());
    LibraryJar executor = LibraryJar.loaded();
    if (!driver.version().equals(executor.version())) {
      throw new SfException(
          ErrorCode.VERSION_MISMATCH,
          "The driver runs version "
              + driver
              + " of this sink, this executor "
              + executor
              + ". Nothing of this task was written. Put one version on all hosts: look into"
              + " $SPARK_HOME/jars, spark.executor.extraClassPath, spark.jars and"
              + " spark.jars.packages.");
    }
    in.defaultReadObject();
  }

  @Override
  public String toString() {
    return "SfWriterFactory[" + settings + "]";
  }
}
