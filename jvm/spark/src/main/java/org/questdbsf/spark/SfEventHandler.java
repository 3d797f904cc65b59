package org.questdbsf.spark;

/**
 * Is told of events on the driver; see {@link SfHandlers}. Called one event at a time, on a thread
 * of its own: it may be slow, throw, and use Spark.
 */
@FunctionalInterface
public interface SfEventHandler {
  /** Called once for each event that was not dropped from the handler's queue. */
  void onEvent(SfEvent event);
}
