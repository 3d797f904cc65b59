package org.questdbsf.spark;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.questdbsf.qwp.ColumnBuffer;

/** Writes nested arrays of numbers, which must be rectangular and hold no null. */
final class ArrayWriter implements FieldWriter {
  private static final long EXACT_DOUBLE = 1L << 53;

  private final SourceKind leaf;
  private final int dimensions;

  // Of the row at hand.
  private int[] shape;
  private double[] elements = new double[0];
  private int count;

  ArrayWriter(ColumnPlan column) {
    this.dimensions = SourceKind.dimensions(column.source());
    this.leaf = SourceKind.of(SourceKind.leaf(column.source()));
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
    out.putDoubleArray(Arrays.copyOf(elements, count), shape);
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
    if (elements.length < count + more) {
      elements = Arrays.copyOf(elements, Math.max(count + more, 2 * elements.length));
    }
  }

  private void add(ArrayData array, int i) {
    switch (leaf) {
      case DOUBLE -> elements[count++] = array.getDouble(i);
      case FLOAT -> elements[count++] = array.getFloat(i);
      case BYTE -> addWhole(array.getByte(i));
      case SHORT -> addWhole(array.getShort(i));
      case INT -> addWhole(array.getInt(i));
      case LONG -> addWhole(array.getLong(i));
      default -> throw new IllegalStateException("no array of " + leaf);
    }
  }

  private void addWhole(long value) {
    if (Math.abs(value) > EXACT_DOUBLE || value == Long.MIN_VALUE) {
      throw FieldWriters.invalid("element " + value + " has more digits than DOUBLE holds");
    }
    elements[count++] = value;
  }
}
