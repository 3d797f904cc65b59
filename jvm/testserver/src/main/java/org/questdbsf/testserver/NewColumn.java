package org.questdbsf.testserver;

import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;

/** Which column is made for a wire column that the table lacks, and which is not. */
final class NewColumn {
  private NewColumn() {}

  /** The type of the new column, or {@link ColumnTypes#UNKNOWN} while nothing tells it. */
  static int typeOf(DecodedColumn column) throws RefusedException {
    if (column.type() == QwpType.LONG_ARRAY) {
      throw new RefusedException(
          RefusedException.SCHEMA_MISMATCH, "long arrays are not supported, only double arrays");
    }
    if (column.type() == QwpType.DOUBLE_ARRAY) {
      checkDimensions(column);
    }
    return ColumnTypes.columnTypeFor(column);
  }

  /** All arrays of a message have as many dimensions as the first. */
  private static void checkDimensions(DecodedColumn column) throws RefusedException {
    int expected = ColumnTypes.dimensions(column);
    for (int row = 0; row < column.rows(); row++) {
      if (!column.isNull(row) && column.getShape(row).length != expected) {
        throw new RefusedException(
            RefusedException.SCHEMA_MISMATCH,
            "array dimensionality mismatch in QWP batch [column="
                + column.name()
                + ", expectedDims="
                + expected
                + ", actualDims="
                + column.getShape(row).length
                + "]");
      }
    }
  }
}
