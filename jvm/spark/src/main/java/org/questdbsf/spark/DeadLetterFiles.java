package org.questdbsf.spark;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** Finds the Hadoop file system of a dead-letter directory, with Spark's settings for it. */
final class DeadLetterFiles {
  private DeadLetterFiles() {}

  /** The file system of a path; Hadoop keeps and shares it, so it must not be closed. */
  static FileSystem of(Path dir) throws IOException {
    Configuration conf =
        SparkEnv.get() == null
            ? new Configuration()
            : SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    return dir.getFileSystem(conf);
  }

  /** A file name made of what may hold other characters than a path takes. */
  static String safe(String name) {
    return name.replaceAll("[^A-Za-z0-9._-]", "_");
  }
}
