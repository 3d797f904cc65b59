package org.questdbsf.spark;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/** Notices that an executor is gone, which says nothing more of itself. One for an application. */
final class GoneExecutors extends SparkListener {
  private static final Set<SparkContext> LISTENING =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private GoneExecutors() {}

  static void listen(SparkContext context) {
    if (LISTENING.add(context)) {
      context.addSparkListener(new GoneExecutors());
    }
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    SfQueries.gone(removed.executorId());
  }
}
