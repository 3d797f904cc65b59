package org.questdbsf.qwp;

import java.nio.ByteBuffer;

/**
 * Arrays, kept as the wire has them: number of dimensions, their lengths, the elements. The number
 * of dimensions belongs to the column, as in QuestDB: fixed by its first value.
 */
final class ArrayStore extends SpanStore {
  private final int[] oneDimension = new int[1];
  private int dimensions;
  private boolean kept;
  private int values;

  /** Fills a slot; returns its bytes. */
  int put(int slot, double[] flat, int[] shape, ColumnPlace place) {
    int at = begin(shape, flat.length, place);
    for (double element : flat) {
      if (Double.isInfinite(element)) {
        throw place.infinite(element);
      }
      LittleEndian.putLong(data, at, Double.doubleToRawLongBits(element));
      at += 8;
    }
    finish(slot, shape, at);
    return span(slot, slot + 1);
  }

  /** Fills a slot with an array of one dimension whose elements lie in memory as here. */
  void put(int slot, ByteBuffer elements, int from, int length, ColumnPlace place) {
    oneDimension[0] = length;
    int at = begin(oneDimension, length, place);
    elements.get(from << 3, data, at, length << 3);
    int infinite = Unholdable.firstInfinite(data, at, length);
    if (infinite >= 0) {
      throw place.infinite(
          Double.longBitsToDouble(LittleEndian.getLong(data, at + (infinite << 3))));
    }
    finish(slot, oneDimension, at + (length << 3));
  }

  /** Writes all but the elements; returns where these begin. */
  private int begin(int[] shape, int elements, ColumnPlace place) {
    check(shape, elements, place);
    int at = room(1 + 4L * shape.length + 8L * elements);
    data[at++] = (byte) shape.length;
    for (int length : shape) {
      LittleEndian.putInt(data, at, length);
      at += 4;
    }
    return at;
  }

  private void finish(int slot, int[] shape, int end) {
    end(slot, end);
    dimensions = shape.length;
    values++;
  }

  private void check(int[] shape, int elements, ColumnPlace place) {
    if (shape.length < 1 || shape.length > QwpLimits.MAX_ARRAY_DIMENSIONS) {
      throw place.invalid("an array has 1 to 32 dimensions, not " + shape.length);
    }
    if (dimensions != 0 && dimensions != shape.length) {
      throw place.invalid(
          "an array of " + shape.length + " dimensions, but the column has " + dimensions);
    }
    if (elements > QwpLimits.MAX_ARRAY_ELEMENTS) {
      throw place.invalid(
          "an array of " + elements + " elements; at most " + QwpLimits.MAX_ARRAY_ELEMENTS);
    }
    long product = 1;
    for (int length : shape) {
      if (length < 0) {
        throw place.invalid("an array dimension of length " + length);
      }
      // Saturates: beyond the limit it cannot equal the number of elements, unless zero follows.
      product = Math.min(product * length, Integer.MAX_VALUE);
    }
    if (product != elements) {
      throw place.invalid("an array of " + elements + " elements whose dimensions give " + product);
    }
  }

  @Override
  void drop(int slot) {
    super.drop(slot);
    values--;
    if (values == 0 && !kept) {
      dimensions = 0;
    }
  }

  @Override
  void clear() {
    super.clear();
    kept |= values > 0;
    values = 0;
  }

  /** A range of nulls alone would not say how many dimensions the column has. */
  @Override
  boolean writable(int valuesInRange) {
    return valuesInRange > 0;
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int valuesInRange) {
    return span(from, to);
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int valuesInRange) {
    writeSpan(out, from, to);
  }
}
