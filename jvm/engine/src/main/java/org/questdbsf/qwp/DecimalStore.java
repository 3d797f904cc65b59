package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * Decimals of 8, 16 or 32 bytes: the unscaled number in two's complement. The scale belongs to the
 * column: the first value since the block was cleared fixes it, later ones are brought to it
 * exactly or refused (client spec, section on column data).
 */
final class DecimalStore extends FixedStore {
  private static final int UNKNOWN = -1;

  private final int maxPrecision;
  private final long longBound;
  private int scale = UNKNOWN;
  private boolean kept;
  private int values;

  DecimalStore(int width) {
    super(width, false);
    this.maxPrecision = width == 8 ? 18 : width == 16 ? 38 : 76;
    this.longBound = width == 8 ? 1_000_000_000_000_000_000L : Long.MAX_VALUE;
  }

  void put(int slot, long unscaled, int valueScale, ColumnPlace place) {
    boolean fits = unscaled < longBound && unscaled > -longBound;
    if (!fits
        || (values == 0 ? valueScale < 0 || valueScale > maxPrecision : valueScale != scale)) {
      put(slot, BigDecimal.valueOf(unscaled, valueScale), place);
      return;
    }
    int at = room(slot);
    LittleEndian.putLong(data, at, unscaled);
    extend(at + 8, at + width, unscaled);
    scale = valueScale;
    values++;
  }

  void put(int slot, BigDecimal value, ColumnPlace place) {
    int target = values > 0 ? scale : Math.max(0, Math.min(value.scale(), maxPrecision));
    BigInteger unscaled = rescale(value, target, place);
    int at = room(slot);
    if (unscaled.bitLength() < 64) {
      long low = unscaled.longValue();
      LittleEndian.putLong(data, at, low);
      extend(at + 8, at + width, low);
    } else {
      for (int i = 0; i < width; i += 8) {
        LittleEndian.putLong(data, at + i, unscaled.shiftRight(8 * i).longValue());
      }
    }
    scale = target;
    values++;
  }

  private void extend(int from, int to, long sign) {
    for (int at = from; at < to; at += 8) {
      LittleEndian.putLong(data, at, sign >> 63);
    }
  }

  private BigInteger rescale(BigDecimal value, int target, ColumnPlace place) {
    if (value.signum() == 0) {
      return BigInteger.ZERO;
    }
    // Both comparisons come before setScale: an exponent of a billion must not be written out.
    if ((long) value.precision() - value.scale() > maxPrecision - target) {
      throw place.invalid(
          "a decimal of precision "
              + value.precision()
              + " and scale "
              + value.scale()
              + " needs more than the "
              + maxPrecision
              + " digits of the type at the column's scale "
              + target);
    }
    if ((long) value.scale() - target >= value.precision()) {
      throw lost(value, target, place);
    }
    try {
      return value.setScale(target, RoundingMode.UNNECESSARY).unscaledValue();
    } catch (ArithmeticException e) {
      throw lost(value, target, place);
    }
  }

  private RuntimeException lost(BigDecimal value, int target, ColumnPlace place) {
    return place.invalid(
        "a decimal of scale "
            + value.scale()
            + " would lose digits at the column's scale "
            + target
            + (values > 0 ? ", which the first value since the last flush fixed" : "")
            + "; give all values of the column one scale");
  }

  @Override
  void drop(int slot) {
    values--;
    if (values == 0 && !kept) {
      scale = UNKNOWN;
    }
  }

  @Override
  void clear() {
    kept |= values > 0;
    values = 0;
  }

  @Override
  boolean writable(int valuesInRange) {
    return scale != UNKNOWN;
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int valuesInRange) {
    return 1 + super.bytes(nulls, from, to, valuesInRange);
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int valuesInRange) {
    out.putByte(scale);
    super.write(out, nulls, from, to, valuesInRange);
  }
}
