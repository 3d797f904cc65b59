package org.questdbsf.spark;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.questdbsf.qwp.ColumnBuffer;

/**
 * Writes one field of a row, which is not null, into its column. Made once per column and task, so
 * an instance may keep scratch space. One thread.
 */
@FunctionalInterface
interface FieldWriter {
  /**
   * Sets the column's value of the current row, or leaves it unset for null.
   *
   * @throws org.questdbsf.error.SfException VALUE_INVALID, if QuestDB cannot hold the value
   */
  void write(SpecializedGetters row, int ordinal, ColumnBuffer out);
}
