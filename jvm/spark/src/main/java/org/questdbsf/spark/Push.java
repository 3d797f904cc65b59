package org.questdbsf.spark;

import java.io.IOException;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings news of this JVM's pools to the driver between commits: directly where this is the
 * driver's JVM (local mode), else through {@link SfPlugin} where it is on. Otherwise they wait for
 * the next commit message. Each piece of news is told once, by whichever way comes first.
 */
final class Push {
  private static final Logger LOG = LoggerFactory.getLogger(Push.class);
  private static final String DRIVER = "driver";

  private static volatile PluginContext plugin;

  private Push() {}

  /** The plugin is on in this executor. */
  static void connect(PluginContext context) {
    plugin = context;
  }

  /** The executor ends: tells what there is to tell. */
  static void disconnect() {
    LanePools.pushAll();
    plugin = null;
  }

  /** Tells of a pool now; never waits. */
  static void news(LanePool pool) {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return;
    }
    PluginContext context = plugin;
    if (DRIVER.equals(env.executorId())) {
      SfQueries.receive(new SfNews(pool.news().queryId(), TaskMetrics.report(pool)));
    } else if (context != null) {
      SfNews news = new SfNews(pool.news().queryId(), TaskMetrics.report(pool));
      try {
        context.send(news);
      } catch (IOException | RuntimeException e) {
        LOG.warn("The driver was not told {} because it cannot be reached.", news, e);
      }
    }
  }
}
