package org.questdbsf.net;

import java.util.List;

/**
 * The answer of {@code /exec}.
 *
 * @param columns names of the columns; empty for a statement that returns no rows
 * @param types QuestDB's names of their types, in the same order
 * @param rows the values as JSON has them: String, Long (a whole number that fits), Double (any
 *     other number), Boolean, null, List of these for arrays
 */
public record SqlResult(List<String> columns, List<String> types, List<List<Object>> rows) {

  /**
   * Index of a column by name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public int column(String name) {
    int i = columns.indexOf(name);
    if (i < 0) {
      throw new IllegalArgumentException("no column " + name + " in " + columns);
    }
    return i;
  }

  /** The value in a row of the column with this name. */
  public Object value(int row, String column) {
    return rows.get(row).get(column(column));
  }
}
