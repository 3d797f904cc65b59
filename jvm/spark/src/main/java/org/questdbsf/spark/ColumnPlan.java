package org.questdbsf.spark;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;

/**
 * How one column of the rows is written.
 *
 * @param ordinal its place in the rows
 * @param name its name in QuestDB
 * @param source its type in Spark
 * @param target its type in QuestDB
 */
record ColumnPlan(int ordinal, String name, DataType source, TargetType target)
    implements Serializable {}
