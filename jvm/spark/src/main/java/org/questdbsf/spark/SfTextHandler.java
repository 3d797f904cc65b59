package org.questdbsf.spark;

/** As {@link SfEventHandler}, for Python: one crossing brings the whole event. */
@FunctionalInterface
public interface SfTextHandler {
  /**
   * Called once for each event that was not dropped from the handler's queue.
   *
   * @param token the one of the registration; a caller without it is not this JVM
   * @param json as {@link SfEvent#toJson}
   */
  void onEvent(String token, String json);
}
