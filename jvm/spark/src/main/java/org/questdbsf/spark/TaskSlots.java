package org.questdbsf.spark;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** How many tasks run at once on an executor, by its configuration. */
final class TaskSlots {
  private static final Pattern LOCAL = Pattern.compile("local\\[\\s*(\\d+|\\*)\\s*(?:,.*)?]");
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*(\\d+)\\s*,.*]");

  private TaskSlots() {}

  /**
   * Task slots of one executor; at least 1.
   *
   * @param processors what to take where an executor uses all cores of its machine
   */
  static int of(SparkConf conf, int processors) {
    String master = conf.get("spark.master", "");
    int perTask = Math.max(1, conf.getInt("spark.task.cpus", 1));
    return Math.max(1, cores(conf, master, processors) / perTask);
  }

  private static int cores(SparkConf conf, String master, int processors) {
    if (master.equals("local")) {
      return 1;
    }
    Matcher local = LOCAL.matcher(master);
    if (local.matches()) {
      return local.group(1).equals("*") ? processors : Integer.parseInt(local.group(1));
    }
    Matcher cluster = LOCAL_CLUSTER.matcher(master);
    if (cluster.matches()) {
      return Integer.parseInt(cluster.group(1));
    }
    boolean oneByDefault = master.startsWith("yarn") || master.startsWith("k8s");
    return conf.getInt("spark.executor.cores", oneByDefault ? 1 : processors);
  }
}
