package org.questdbsf.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.SparkEnv;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Handlers of events on the driver. Each has a bounded queue and a daemon thread of its own, so
 * that a slow one holds up neither the queries nor another handler. A registration ends with its
 * Spark application, at the latest. Thread-safe.
 */
public final class SfHandlers {
  private static final List<SfRegistration> ALL = new CopyOnWriteArrayList<>();

  private SfHandlers() {}

  /**
   * Adds a handler.
   *
   * @param errorsOnly whether it is told of {@link SfEvent.Kind#ERROR} only
   * @param capacity events that wait for it at most, at least 1
   * @throws SfException SPARK_UNSUPPORTED where no Spark application runs in this JVM
   */
  public static SfRegistration add(SfEventHandler handler, boolean errorsOnly, int capacity) {
    String application = application();
    if (application == null) {
      throw new SfException(
          ErrorCode.SPARK_UNSUPPORTED,
          "Cannot add a handler: no Spark application runs in this JVM; make a session first.");
    }
    if (capacity < 1) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "A handler's queue of " + capacity + " events is too short; give at least 1.");
    }
    SfRegistration added = new SfRegistration(handler, errorsOnly, application, capacity);
    ALL.add(added);
    added.start();
    return added;
  }

  /**
   * As {@link #add}, for Python.
   *
   * @param token given with each event, so that Python can tell our calls from those of others
   */
  public static SfRegistration addText(
      SfTextHandler handler, String token, boolean errorsOnly, int capacity) {
    return add(event -> handler.onEvent(token, event.toJson()), errorsOnly, capacity);
  }

  /**
   * Tells all handlers that want to know; never waits.
   *
   * @return how many there are
   */
  static int fire(SfEvent event, SfRegistration.Outcome outcome) {
    String application = application();
    int told = 0;
    for (SfRegistration one : ALL) {
      if (!one.isOf(application)) {
        one.remove();
      } else if (one.wants(event)) {
        one.offer(event, outcome);
        told++;
      }
    }
    return told;
  }

  static void forget(SfRegistration registration) {
    ALL.remove(registration);
  }

  private static String application() {
    return SparkEnv.get() == null ? null : SparkEnv.get().conf().get("spark.app.id", null);
  }
}
