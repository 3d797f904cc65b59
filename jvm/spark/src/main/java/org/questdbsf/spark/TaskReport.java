package org.questdbsf.spark;

import java.io.Serializable;
import java.util.List;

/**
 * What a task tells the driver when it commits.
 *
 * @param host the executor's host
 * @param executorId Spark's id of the executor
 * @param parts the rows by lane, in the order of writing; empty for a task without rows
 * @param rows rows written, in all
 * @param bytes their bytes as encoded
 * @param rowsDropped rows written to the dead letters instead
 * @param lanes how far each lane of the executor's pool is
 * @param adopted slots of ended processes that the executor sent to the end
 * @param counted what the pool counted since it was last asked, by ordinal of {@link SfMetric}
 * @param gauges what holds now, by ordinal of {@link SfMetric}
 * @param health one word and a sentence
 * @param events what was refused since the last message, and other things that people should know
 */
record TaskReport(
    String host,
    String executorId,
    List<Part> parts,
    long rows,
    long bytes,
    long rowsDropped,
    List<LaneReport> lanes,
    List<LaneReport> adopted,
    long[] counted,
    long[] gauges,
    String health,
    List<SfEvent> events)
    implements Serializable {

  /**
   * The rows of a task that one lane took. A task has more than one lane where symbols filled one.
   *
   * @param place directory of the slot, or the lane's name in memory
   * @param incarnation see {@link LaneReport}
   * @param lastFsn last frame of these rows
   */
  record Part(String place, long incarnation, long lastFsn, long rows) implements Serializable {}

  @Override
  public String toString() {
    return "TaskReport[" + rows + " rows, " + host + ", executor " + executorId + "]";
  }
}
