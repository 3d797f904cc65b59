package org.questdbsf.spark;

import java.util.List;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * The metrics of the SQL tab. Spark makes them by class name on whoever shows them, hence one
 * public class with a public constructor for each.
 */
public final class SfCustomMetrics {
  private SfCustomMetrics() {}

  /** A fresh instance of each. */
  static CustomMetric[] all() {
    return List.of(
            new RowsWritten(),
            new BytesWritten(),
            new FramesWritten(),
            new FramesSent(),
            new FramesAcked(),
            new FramesReplayed(),
            new AcksRejected(),
            new ReconnectAttempts(),
            new ReconnectsSucceeded(),
            new ServerErrors(),
            new BackpressureStalls(),
            new RowsDropped())
        .toArray(new CustomMetric[0]);
  }

  /** A value that a task reports. */
  static CustomTaskMetric value(SfMetric metric, long value) {
    return new Value(metric.key(), value);
  }

  private record Value(String name, long value) implements CustomTaskMetric {}

  private abstract static class Counter extends CustomSumMetric {
    private final SfMetric metric;

    Counter(SfMetric metric) {
      this.metric = metric;
    }

    @Override
    public String name() {
      return metric.key();
    }

    @Override
    public String description() {
      return "questdb-sf " + metric.key();
    }
  }

  /** {@link SfMetric#ROWS_WRITTEN}. */
  public static final class RowsWritten extends Counter {
    public RowsWritten() {
      super(SfMetric.ROWS_WRITTEN);
    }
  }

  /** {@link SfMetric#BYTES_WRITTEN}. */
  public static final class BytesWritten extends Counter {
    public BytesWritten() {
      super(SfMetric.BYTES_WRITTEN);
    }
  }

  /** {@link SfMetric#FRAMES_WRITTEN}. */
  public static final class FramesWritten extends Counter {
    public FramesWritten() {
      super(SfMetric.FRAMES_WRITTEN);
    }
  }

  /** {@link SfMetric#FRAMES_SENT}. */
  public static final class FramesSent extends Counter {
    public FramesSent() {
      super(SfMetric.FRAMES_SENT);
    }
  }

  /** {@link SfMetric#FRAMES_ACKED}. */
  public static final class FramesAcked extends Counter {
    public FramesAcked() {
      super(SfMetric.FRAMES_ACKED);
    }
  }

  /** {@link SfMetric#FRAMES_REPLAYED}. */
  public static final class FramesReplayed extends Counter {
    public FramesReplayed() {
      super(SfMetric.FRAMES_REPLAYED);
    }
  }

  /** {@link SfMetric#ACKS_REJECTED}. */
  public static final class AcksRejected extends Counter {
    public AcksRejected() {
      super(SfMetric.ACKS_REJECTED);
    }
  }

  /** {@link SfMetric#RECONNECT_ATTEMPTS}. */
  public static final class ReconnectAttempts extends Counter {
    public ReconnectAttempts() {
      super(SfMetric.RECONNECT_ATTEMPTS);
    }
  }

  /** {@link SfMetric#RECONNECTS_SUCCEEDED}. */
  public static final class ReconnectsSucceeded extends Counter {
    public ReconnectsSucceeded() {
      super(SfMetric.RECONNECTS_SUCCEEDED);
    }
  }

  /** {@link SfMetric#SERVER_ERRORS}. */
  public static final class ServerErrors extends Counter {
    public ServerErrors() {
      super(SfMetric.SERVER_ERRORS);
    }
  }

  /** {@link SfMetric#BACKPRESSURE_STALLS}. */
  public static final class BackpressureStalls extends Counter {
    public BackpressureStalls() {
      super(SfMetric.BACKPRESSURE_STALLS);
    }
  }

  /** {@link SfMetric#ROWS_DROPPED}. */
  public static final class RowsDropped extends Counter {
    public RowsDropped() {
      super(SfMetric.ROWS_DROPPED);
    }
  }
}
