package org.questdbsf.spark;

import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which uses of Spark this sink refuses, each with a sentence that says what to do. */
final class StreamRules {
  private static final Logger LOG = LoggerFactory.getLogger(StreamRules.class);

  private StreamRules() {}

  /** What Spark says about a running query; a null where it does not say. */
  record Running(String outputMode, String trigger) {}

  static SfException continuous() {
    return new SfException(
        ErrorCode.SPARK_UNSUPPORTED,
        "Cannot write with a continuous trigger: its tasks have no end at which rows could be"
            + " acknowledged. Use trigger(processingTime=...) or trigger(availableNow=True).");
  }

  static SfException overwrite(SfOptions options) {
    return new SfException(
        ErrorCode.SPARK_UNSUPPORTED,
        "Cannot overwrite "
            + options.target()
            + ": the sink only appends. For a batch write use mode(\"append\"); for a stream"
            + " outputMode(\"append\"), or outputMode(\"update\") with update_keys on a table with"
            + " DEDUP UPSERT KEYS, instead of \"complete\". To empty the table run TRUNCATE TABLE"
            + " in QuestDB.");
  }

  /**
   * Looks the query up, which the interfaces for sinks do not allow: it is the only way to tell
   * append from update. What is looked at is there in Spark 3.5 to 4.3.
   */
  static Running running(String queryId) {
    try {
      Map<?, ?> queries = SparkSession.active().sharedState().activeStreamingQueries();
      Object query = queries.get(UUID.fromString(queryId));
      if (query != null) {
        return new Running(asked(query, "outputMode"), asked(query, "trigger"));
      }
    } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
      LOG.warn("Cannot tell the output mode of query {}; it is taken as append.", queryId, e);
    }
    // A continuous query builds its write before it is registered, on the thread of start().
    boolean continuous =
        StackWalker.getInstance()
            .walk(
                frames -> frames.anyMatch(f -> f.getClassName().endsWith(".ContinuousExecution")));
    return new Running(null, continuous ? "ContinuousTrigger" : null);
  }

  private static String asked(Object query, String what)
      throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
    return String.valueOf(query.getClass().getMethod(what).invoke(query));
  }

  /** Refuses modes and triggers. */
  static void check(SfOptions options, Running running) {
    if (running.trigger() != null && running.trigger().startsWith("ContinuousTrigger")) {
      throw continuous();
    }
    boolean keys = options.isSet(SfOption.UPDATE_KEYS);
    if (!"Update".equalsIgnoreCase(running.outputMode())) {
      if (keys && running.outputMode() != null) {
        throw OptionRules.conflict(
            "update_keys is set, but the stream's output mode is "
                + running.outputMode().toLowerCase(java.util.Locale.ROOT)
                + "; drop it, or use outputMode(\"update\").");
      }
      return;
    }
    if (!keys) {
      throw OptionRules.missing(
          "outputMode(\"update\") needs update_keys, equal to the table's DEDUP UPSERT KEYS:"
              + " without such keys each update would be one more row. Set it, or use"
              + " outputMode(\"append\").");
    }
    if (options.commitOn() == CommitOn.STORE) {
      throw OptionRules.conflict(
          "outputMode(\"update\") with commit_on=store is refused: an older value that waits in a"
              + " slot could arrive after a newer one and replace it. Use commit_on=ack.");
    }
  }

  /** Refuses slots on disks that Spark may take away before they are sent. */
  static void checkDisks(SfOptions options, SparkConf conf) {
    if (options.commitOn() != CommitOn.STORE || options.on(SfOption.SF_DIR_IS_PERSISTENT)) {
      return;
    }
    String master = conf.get("spark.master", "");
    String why =
        conf.getBoolean("spark.dynamicAllocation.enabled", false)
            ? "dynamic allocation (spark.dynamicAllocation.enabled)"
            : master.startsWith("k8s") ? "Kubernetes" : master.startsWith("yarn") ? "YARN" : null;
    if (why != null) {
      throw OptionRules.conflict(
          "commit_on=store with "
              + why
              + " is refused: rows are committed when they are in sf_dir on the executor, which"
              + " Spark may take away before they are sent. Use commit_on=ack; or, if "
              + options.word(SfOption.SF_DIR)
              + " outlives the executors and they come back to it, set sf_dir_is_persistent=on.");
    }
  }
}
