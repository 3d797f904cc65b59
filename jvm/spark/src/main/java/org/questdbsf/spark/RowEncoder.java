package org.questdbsf.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;

/**
 * Writes rows into a {@link TableBlock}: one small function per column, made once per task from the
 * {@link RowPlan}; no boxing and no allocation per row. A row that cannot be written leaves no
 * trace. One thread.
 */
final class RowEncoder {
  private final RowPlan plan;
  private final int[] ordinals;
  private final FieldWriter[] writers;
  private final boolean[] refuseNull;
  private final TimeWriters.TimeReader designated;

  RowEncoder(RowPlan plan, SfOptions options) {
    this.plan = plan;
    List<ColumnPlan> columns = plan.columns();
    this.ordinals = new int[columns.size()];
    this.writers = new FieldWriter[columns.size()];
    this.refuseNull = new boolean[columns.size()];
    for (int i = 0; i < ordinals.length; i++) {
      ColumnPlan column = columns.get(i);
      ordinals[i] = column.ordinal();
      writers[i] = FieldWriters.of(column, options);
      refuseNull[i] = refusesNull(column.target().type(), options);
    }
    this.designated =
        plan.designated() == null ? null : TimeWriters.reader(plan.designated(), options);
  }

  private static boolean refusesNull(QwpType type, SfOptions options) {
    return switch (type) {
      case BOOLEAN -> options.is(SfOption.NULLS_BOOLEAN, "error");
      case BYTE -> options.is(SfOption.NULLS_BYTE, "error");
      case SHORT -> options.is(SfOption.NULLS_SHORT, "error");
      case CHAR -> options.is(SfOption.NULLS_CHAR, "error");
      default -> false;
    };
  }

  /** The columns of one block, in the order of the plan. */
  static final class Binding {
    private final TableBlock block;
    private final ColumnBuffer[] columns;
    private final ColumnBuffer designated;
    private final DesignatedRange range;

    private Binding(
        TableBlock block, ColumnBuffer[] columns, ColumnBuffer designated, DesignatedRange range) {
      this.block = block;
      this.columns = columns;
      this.designated = designated;
      this.range = range;
    }

    TableBlock block() {
      return block;
    }
  }

  /** Adds the plan's columns to a block, which may then be filled by {@link #fill}. */
  Binding bind(TableBlock block, DesignatedRange range) {
    ColumnBuffer[] columns = new ColumnBuffer[ordinals.length];
    for (int i = 0; i < columns.length; i++) {
      ColumnPlan column = plan.columns().get(i);
      columns[i] = block.column(column.name(), column.target().type());
    }
    ColumnBuffer time =
        plan.designated() == null ? null : block.designated(plan.designated().target().type());
    return new Binding(block, columns, time, range);
  }

  /**
   * Fills the row at hand of a block, which is to be ended then.
   *
   * @throws SfException what cannot be written, with table, column and value; the block is then as
   *     before
   */
  void fill(InternalRow row, Binding to) {
    int at = -1;
    try {
      for (int i = 0; i < ordinals.length; i++) {
        at = i;
        int ordinal = ordinals[i];
        if (!row.isNullAt(ordinal)) {
          writers[i].write(row, ordinal, to.columns[i]);
        } else if (refuseNull[i]) {
          throw nullRefused(plan.columns().get(i).target().type());
        }
      }
      at = ordinals.length;
      if (designated != null) {
        fillTime(row, to);
      }
    } catch (SfException e) {
      to.block.cancelRow();
      throw located(e, at, to);
    }
  }

  private void fillTime(InternalRow row, Binding to) {
    int ordinal = plan.designated().ordinal();
    if (row.isNullAt(ordinal)) {
      throw FieldWriters.invalid("the designated timestamp is null");
    }
    long time = designated.read(row, ordinal);
    to.range.check(time);
    to.designated.putLong(time);
  }

  private static SfException nullRefused(QwpType type) {
    return FieldWriters.invalid(
        "the value is null, and "
            + type
            + " has none; set nulls_"
            + type.name().toLowerCase(java.util.Locale.ROOT)
            + "=zero to write zero");
  }

  private SfException located(SfException e, int at, Binding to) {
    ColumnPlan column = at < ordinals.length ? plan.columns().get(at) : plan.designated();
    return new SfException(
        e.code(),
        "table '"
            + to.block.table()
            + "', column '"
            + (column == null ? "" : column.name())
            + "': "
            + withoutPlace(withoutCode(e.code(), e.getMessage())),
        e);
  }

  /** A column buffer names table, column and row of its batch, of which only the last is wrong. */
  private static String withoutPlace(String message) {
    String end = " of the batch: ";
    int cut = message.indexOf(end);
    return cut < 0 ? message : message.substring(cut + end.length());
  }

  /** The message without its first word, which a new exception puts there again. */
  static String withoutCode(ErrorCode code, String message) {
    String prefix = code + ": ";
    return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
  }
}
