package org.questdbsf.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.SparkSession;

/** One local session for all tests of a JVM: two task slots, three attempts a task. */
final class TestSpark {
  private static final Path WAREHOUSE = temporary("spark-warehouse");

  static final SparkSession SESSION =
      SparkSession.builder()
          .master("local[2,3]")
          .appName("questdb-sf tests")
          .config("spark.ui.port", "0")
          .config("spark.sql.shuffle.partitions", "2")
          .config("spark.sql.warehouse.dir", WAREHOUSE.toString())
          .config("spark.sql.session.timeZone", "America/New_York")
          .config("spark.driver.host", "127.0.0.1")
          .config("spark.driver.bindAddress", "127.0.0.1")
          .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
          .getOrCreate();

  private TestSpark() {}

  /** A fresh directory that goes away with the JVM's machine. */
  static Path temporary(String name) {
    try {
      return Files.createTempDirectory("questdb-sf-" + name);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
