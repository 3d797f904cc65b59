package org.questdbsf.spark;

import java.io.Serializable;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.TableSpec;

/**
 * What a task needs to know to borrow a lane. Travels to the executors.
 *
 * @param options the options of the query
 * @param plan how rows are written
 * @param streaming false for a batch write
 * @param queryId Spark's id of the query, for names and messages
 * @param senderId family of the slots
 * @param onMissing what lanes do where a table is not there
 * @param ttlFloorMicros oldest time that the table's TTL kept when the query started; {@code
 *     TtlFloor.NONE} where there is none or it is not known
 */
record LaneSettings(
    SfOptions options,
    RowPlan plan,
    boolean streaming,
    String queryId,
    String senderId,
    OnMissingTable onMissing,
    long ttlFloorMicros)
    implements Serializable {

  /**
   * Lanes may be shared by tasks with equal identities: those of one streaming query, or of batch
   * writes with the same options. Holds secrets: never shown.
   */
  String identity() {
    return streaming
        + "|"
        + (streaming ? queryId : options.commitOn().onDisk() ? senderId : "")
        + "|"
        + options.identity()
        + "|"
        + onMissing
        + "|"
        + plan;
  }

  /** The engine's settings of one of so many lanes. */
  SenderConfig senderConfig(int lanes) {
    return SenderSettings.of(options, streaming, senderId, lanes);
  }

  /** What a table must be for these rows. */
  TableSpec table(String name) {
    return SenderSettings.table(options, plan, name, onMissing);
  }

  @Override
  public String toString() {
    return "LaneSettings[" + options + ", sender_id=" + senderId + ", query=" + queryId + "]";
  }
}
