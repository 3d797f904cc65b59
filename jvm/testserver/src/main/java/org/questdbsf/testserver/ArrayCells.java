package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import io.questdb.cairo.arr.DirectArray;
import org.questdbsf.qwp.DecodedColumn;

/**
 * Arrays into DOUBLE arrays, which are the only ones that the server makes. Those of doubles need
 * the column's dimensions. Those of longs are stored bit by bit, whatever their dimensions: a fault
 * of the server that is kept, so that a client that sends them is seen to lose their values.
 */
final class ArrayCells {
  private ArrayCells() {}

  static CellWriter ofDoubles(DecodedColumn values, Target target, DirectArray array)
      throws RefusedException {
    int sent = ColumnTypes.dimensions(values);
    if (!ColumnType.isArray(target.type())
        || sent != 0 && sent != ColumnType.decodeArrayDimensionality(target.type())) {
      return null;
    }
    return (row, i) -> {
      shape(array, ColumnType.DOUBLE, values.getShape(i));
      double[] flat = values.getDoubleArray(i);
      for (int k = 0; k < flat.length; k++) {
        array.putDouble(k, flat[k]);
      }
      row.putArray(target.index(), array);
    };
  }

  static CellWriter ofLongs(DecodedColumn values, Target target, DirectArray array) {
    if (!ColumnType.isArray(target.type())) {
      return null;
    }
    return (row, i) -> {
      shape(array, ColumnType.LONG, values.getShape(i));
      long[] flat = values.getLongArray(i);
      for (int k = 0; k < flat.length; k++) {
        array.putLong(k, flat[k]);
      }
      row.putArray(target.index(), array);
    };
  }

  private static void shape(DirectArray array, short element, int[] shape) {
    array.setType(ColumnType.encodeArrayType(element, shape.length));
    for (int d = 0; d < shape.length; d++) {
      array.setDimLen(d, shape[d]);
    }
    array.applyShape();
  }
}
