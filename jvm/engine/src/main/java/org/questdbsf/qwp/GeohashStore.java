package org.questdbsf.qwp;

/**
 * Geohashes: eight bytes a slot here, as many as the precision needs on the wire. The precision
 * belongs to the column: fixed by its first value and kept when the block is cleared, so that a
 * batch of nulls alone still carries it.
 */
final class GeohashStore extends FixedStore {
  private static final int NONE = Integer.MAX_VALUE;

  private int precision;
  private boolean kept;
  private int values;
  private int firstOfOnes = NONE; // slot of the first geohash of ones only

  GeohashStore() {
    super(8, false);
  }

  void put(int slot, long bits, int precisionBits, ColumnPlace place) {
    if (precisionBits < 1 || precisionBits > QwpLimits.MAX_GEOHASH_BITS) {
      throw place.invalid("a geohash has 1 to 60 bits, not " + precisionBits);
    }
    if (bits >>> precisionBits != 0) {
      throw place.invalid(
          "geohash 0x" + Long.toHexString(bits) + " has more than " + precisionBits + " bits");
    }
    if (precision != 0 && precision != precisionBits) {
      throw place.invalid(
          "a geohash of " + precisionBits + " bits, but the column has " + precision);
    }
    putInteger(slot, bits);
    precision = precisionBits;
    if (bits == Sentinels.geohash(precisionBits)) {
      firstOfOnes = Math.min(firstOfOnes, slot);
    }
    values++;
  }

  @Override
  void drop(int slot) {
    values--;
    firstOfOnes = firstOfOnes == slot ? NONE : firstOfOnes;
    if (values == 0 && !kept) {
      precision = 0;
    }
  }

  @Override
  void clear() {
    kept |= values > 0;
    values = 0;
    firstOfOnes = NONE;
  }

  @Override
  boolean writable(int valuesInRange) {
    return precision != 0;
  }

  /** All ones in full bytes is what a null looks like where there is no bitmap. */
  @Override
  boolean needsBitmap() {
    return firstOfOnes != NONE;
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int valuesInRange) {
    return 1 + (long) valuesInRange * valueBytes();
  }

  private int valueBytes() {
    return (precision + 7) >> 3;
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int valuesInRange) {
    out.putByte(precision);
    int size = valueBytes();
    int at = out.claim((long) valuesInRange * size);
    for (int slot = nulls.next(false, from, to); slot < to; ) {
      int end = nulls.next(true, slot, to);
      for (; slot < end; slot++, at += size) {
        System.arraycopy(data, slot << 3, out.array(), at, size);
      }
      slot = nulls.next(false, end, to);
    }
  }
}
