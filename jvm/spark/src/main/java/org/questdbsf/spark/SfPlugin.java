package org.questdbsf.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Optional, {@code spark.plugins=org.questdbsf.spark.SfPlugin}: executors tell the driver of errors
 * at once and of counters every few seconds, and every {@link SfMetric} is a gauge in Spark's
 * metrics system, in the registries of the driver (all queries) and of each executor (its part).
 * Without it the sink works the same, and the driver learns at each commit.
 */
public final class SfPlugin implements SparkPlugin {

  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Executor();
  }

  private static void register(MetricRegistry registry, ToLongFunction<SfMetric> value) {
    for (SfMetric metric : SfMetric.values()) {
      registry.register(metric.key(), (Gauge<Long>) () -> value.applyAsLong(metric));
    }
  }

  private static final class Driver implements DriverPlugin {
    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
      register(plugin.metricRegistry(), SfQueries::value);
      return Map.of();
    }

    /** Sent, never asked: there is no answer. */
    @Override
    public Object receive(Object message) {
      if (message instanceof SfNews news) {
        SfQueries.receive(news);
      }
      return null;
    }
  }

  private static final class Executor implements ExecutorPlugin {
    @Override
    public void init(PluginContext plugin, Map<String, String> extra) {
      Push.connect(plugin);
      register(plugin.metricRegistry(), LanePools::value);
    }

    @Override
    public void shutdown() {
      Push.disconnect();
    }
  }
}
