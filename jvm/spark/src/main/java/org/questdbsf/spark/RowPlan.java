package org.questdbsf.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * How the rows of one query are written: made once by {@link SchemaCheck} on the driver, used by
 * every task.
 *
 * @param table the table, or null where a column names it
 * @param tableOrdinal place of the column that names the table, or −1
 * @param designated the designated timestamp, or null where the server sets it
 * @param columns all others that are written
 * @param skipped columns that are not written, with their types, for people
 */
record RowPlan(
    String table,
    int tableOrdinal,
    ColumnPlan designated,
    List<ColumnPlan> columns,
    List<String> skipped)
    implements Serializable {

  RowPlan {
    columns = List.copyOf(columns);
    skipped = List.copyOf(skipped);
  }

  /** One line for people: the columns and their types. */
  String describe() {
    StringBuilder text = new StringBuilder();
    for (ColumnPlan column : columns) {
      text.append(text.length() == 0 ? "" : ", ");
      text.append(column.name()).append(' ').append(column.target().ddl());
    }
    if (designated != null) {
      text.append(text.length() == 0 ? "" : ", ");
      text.append(designated.name()).append(' ').append(designated.target().ddl());
      text.append(" (designated)");
    }
    return text.toString();
  }

  /** Names of the columns of whole numbers that are written as times. */
  List<String> numbersAsTimes() {
    List<ColumnPlan> all = new ArrayList<>(columns);
    if (designated != null) {
      all.add(designated);
    }
    return all.stream().filter(ColumnPlan::isNumberAsTime).map(ColumnPlan::name).toList();
  }
}
