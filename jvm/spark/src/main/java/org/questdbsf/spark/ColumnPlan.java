package org.questdbsf.spark;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;
import org.questdbsf.qwp.QwpType;

/**
 * How one column of the rows is written.
 *
 * @param ordinal its place in the rows
 * @param name its name in QuestDB
 * @param source its type in Spark
 * @param target its type in QuestDB
 */
record ColumnPlan(int ordinal, String name, DataType source, TargetType target)
    implements Serializable {

  /** Whether a whole number is written as a time, in the unit of {@code timestamp_unit}. */
  boolean isNumberAsTime() {
    return SourceKind.of(source) == SourceKind.LONG
        && (target.type() == QwpType.TIMESTAMP
            || target.type() == QwpType.TIMESTAMP_NANOS
            || target.type() == QwpType.DATE);
  }
}
