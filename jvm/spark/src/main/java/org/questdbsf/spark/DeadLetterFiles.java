package org.questdbsf.spark;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** Finds the Hadoop file system of a dead-letter directory, with Spark's settings for it. */
final class DeadLetterFiles {
  private static final FsPermission OWNERS_FILE = new FsPermission((short) 0600);
  private static final FsPermission OWNERS_DIRECTORY = new FsPermission((short) 0700);
  private static final int BUFFER_BYTES = 4096;

  private DeadLetterFiles() {}

  /** The file system of a path; Hadoop keeps and shares it, so it must not be closed. */
  static FileSystem of(Path dir) throws IOException {
    Configuration conf =
        SparkEnv.get() == null
            ? new Configuration()
            : SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    return dir.getFileSystem(conf);
  }

  /** The directory for its owner only, since rows are in its files; one that is there stays. */
  static void makeDirectory(FileSystem files, Path dir) throws IOException {
    files.mkdirs(dir, OWNERS_DIRECTORY);
  }

  /** A new file for its owner only. */
  static FSDataOutputStream create(FileSystem files, Path path) throws IOException {
    return files.create(
        path,
        OWNERS_FILE,
        true,
        BUFFER_BYTES,
        files.getDefaultReplication(path),
        files.getDefaultBlockSize(path),
        null);
  }

  /** A file name made of what may hold other characters than a path takes. */
  static String safe(String name) {
    return name.replaceAll("[^A-Za-z0-9._-]", "_");
  }
}
