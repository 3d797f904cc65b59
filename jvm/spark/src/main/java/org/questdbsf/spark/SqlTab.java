package org.questdbsf.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the SQL tab's values of a running task up to date. Spark asks a task for them for the last
 * time before its commit, in which rows are published and acknowledged.
 */
final class SqlTab {
  private static final Logger LOG = LoggerFactory.getLogger(SqlTab.class);

  /** How Spark begins the type of a metric that it did not make itself; the class follows. */
  private static final String CUSTOM = "v2Custom_";

  private SqlTab() {}

  /** Never throws: where Spark is another one than we know, the tab lacks what a commit counts. */
  static void show(TaskContext context, CustomTaskMetric[] values) {
    Map<String, Long> byType = new HashMap<>();
    for (CustomTaskMetric value : values) {
      for (CustomMetric metric : SfCustomMetrics.all()) {
        if (metric.name().equals(value.name())) {
          byType.put(CUSTOM + metric.getClass().getName(), value.value());
        }
      }
    }
    try {
      for (Object accumulator : accumulators(context)) {
        if (accumulator instanceof SQLMetric metric && byType.containsKey(metric.metricType())) {
          metric.set(byType.get(metric.metricType()));
        }
      }
    } catch (ReflectiveOperationException | LinkageError e) {
      LOG.debug("The SQL tab lacks what was counted in the commit of a task.", e);
    }
  }

  /** By reflection: the signatures name classes of Scala's library, of which there are two. */
  private static Object[] accumulators(TaskContext context) throws ReflectiveOperationException {
    Object sequence = TaskMetrics.class.getMethod("accumulators").invoke(context.taskMetrics());
    int length = (int) sequence.getClass().getMethod("length").invoke(sequence);
    Object[] all = new Object[length];
    for (int i = 0; i < length; i++) {
      all[i] = sequence.getClass().getMethod("apply", int.class).invoke(sequence, i);
    }
    return all;
  }
}
