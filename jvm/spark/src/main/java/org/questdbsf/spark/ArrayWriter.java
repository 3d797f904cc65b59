package org.questdbsf.spark;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/** Writes nested arrays of numbers, which must be rectangular and hold no null. */
final class ArrayWriter implements FieldWriter {
  private static final long EXACT_DOUBLE = 1L << 53;

  private final SourceKind leaf;
  private final boolean asDouble;
  private final int dimensions;

  // Of the row at hand.
  private int[] shape;
  private double[] doubles = new double[0];
  private long[] longs = new long[0];
  private int count;

  ArrayWriter(ColumnPlan column) {
    this.dimensions = SourceKind.dimensions(column.source());
    this.leaf = SourceKind.of(SourceKind.leaf(column.source()));
    this.asDouble = column.target().type() == QwpType.DOUBLE_ARRAY;
  }

  @Override
  public void write(SpecializedGetters row, int ordinal, ColumnBuffer out) {
    shape = new int[dimensions];
    Arrays.fill(shape, -1);
    count = 0;
    gather(row.getArray(ordinal), 0);
    for (int i = 0; i < dimensions; i++) {
      shape[i] = Math.max(0, shape[i]); // below an empty array nothing was seen
    }
    if (asDouble) {
      out.putDoubleArray(Arrays.copyOf(doubles, count), shape);
    } else {
      out.putLongArray(Arrays.copyOf(longs, count), shape);
    }
  }

  private void gather(ArrayData array, int level) {
    int length = array.numElements();
    if (shape[level] < 0) {
      shape[level] = length;
    } else if (shape[level] != length) {
      throw FieldWriters.invalid(
          "the array is not rectangular: dimension "
              + (level + 1)
              + " has "
              + shape[level]
              + " and "
              + length
              + " elements");
    }
    boolean last = level == dimensions - 1;
    if (last) {
      reserve(length);
    }
    for (int i = 0; i < length; i++) {
      if (array.isNullAt(i)) {
        throw FieldWriters.invalid(
            "the array has a null at index " + i + " of dimension " + (level + 1));
      }
      if (last) {
        add(array, i);
      } else {
        gather(array.getArray(i), level + 1);
      }
    }
  }

  private void reserve(int more) {
    if (asDouble && doubles.length < count + more) {
      doubles = Arrays.copyOf(doubles, Math.max(count + more, 2 * doubles.length));
    } else if (!asDouble && longs.length < count + more) {
      longs = Arrays.copyOf(longs, Math.max(count + more, 2 * longs.length));
    }
  }

  private void add(ArrayData array, int i) {
    switch (leaf) {
      case DOUBLE -> doubles[count++] = array.getDouble(i);
      case FLOAT -> doubles[count++] = array.getFloat(i);
      case BYTE -> addWhole(array.getByte(i));
      case SHORT -> addWhole(array.getShort(i));
      case INT -> addWhole(array.getInt(i));
      case LONG -> addWhole(array.getLong(i));
      default -> throw new IllegalStateException("no array of " + leaf);
    }
  }

  private void addWhole(long value) {
    if (!asDouble) {
      longs[count++] = value;
    } else if (Math.abs(value) <= EXACT_DOUBLE && value != Long.MIN_VALUE) {
      doubles[count++] = value;
    } else {
      throw tooLong(value);
    }
  }

  private static SfException tooLong(long value) {
    return FieldWriters.invalid("element " + value + " has more digits than DOUBLE holds");
  }
}
