package org.questdbsf.qwp;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Where a value belongs, and what was wrong with it: the errors of a column name both. */
final class ColumnPlace {
  private final TableBlock block;
  private final String name;
  private final QwpType type;
  private long sourceRow = -1;

  ColumnPlace(TableBlock block, String name, QwpType type) {
    this.block = block;
    this.name = name;
    this.type = type;
  }

  /** What is said next is about this row of a source of many; below 0: about the current row. */
  void atSourceRow(long number) {
    sourceRow = number;
  }

  SfException invalid(String fault) {
    return error(ErrorCode.VALUE_INVALID, fault);
  }

  /** The error for a whole number that the column does not hold. */
  SfException outOfRange(String value, long min, long max) {
    if (min > max) {
      return mistyped("an integer");
    }
    return invalid(
        value
            + " is not between "
            + min
            + " and "
            + max
            + (name.isEmpty() ? ", the times that QuestDB takes (from 1970 on)" : ""));
  }

  /** The error for an infinity, of which QuestDB stores the bits but shows nothing. */
  SfException infinite(double value) {
    return invalid(value + " is read by QuestDB as null; give NaN or null where that is meant");
  }

  /** The error for a CHAR that is no character. */
  SfException halfOfAPair(char value) {
    return invalid(String.format("U+%04X is half of a surrogate pair, no character", (int) value));
  }

  SfException mistyped(String given) {
    return error(ErrorCode.TYPE_CONFLICT, given + " was given; convert it, or use another column");
  }

  SfException error(ErrorCode code, String fault) {
    return new SfException(code, this + ": " + fault);
  }

  /** The column, its type, the table and the row. */
  @Override
  public String toString() {
    String what = name.isEmpty() ? "designated timestamp" : "column '" + name + "'";
    return what
        + " ("
        + type
        + ") of table '"
        + block.table()
        + "', row "
        + (sourceRow < 0 ? block.rows() + " of the batch" : Long.toString(sourceRow));
  }
}
