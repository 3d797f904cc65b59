package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;

/**
 * Decimals of 8, 16 or 32 bytes: the unscaled number in two's complement. The scale belongs to the
 * column: the first value since the block was cleared fixes it, later ones are brought to it
 * exactly or refused (client spec, section on column data).
 */
final class DecimalStore extends FixedStore {
  private static final int UNKNOWN = -1;

  private final int maxPrecision;
  private final BigInteger bound;
  private final long topOfBound;
  private final long longBound;
  private int scale = UNKNOWN;
  private boolean kept;
  private int values;

  DecimalStore(int width) {
    super(width, false);
    this.maxPrecision = width == 8 ? 18 : width == 16 ? 38 : 76;
    this.bound = BigInteger.TEN.pow(maxPrecision);
    this.topOfBound = bound.shiftRight(8 * (width - 8)).longValueExact();
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

  /**
   * Fills slots from unscaled numbers in two's complement of 4, 8, 16 or 32 bytes.
   *
   * @param wide bytes of a number of the source
   */
  void put(int slot, SourceRows source, ByteBuffer numbers, int wide, int scale, ColumnPlace p) {
    if (scale < 0 || scale > maxPrecision || values > 0 && scale != this.scale) {
      throw p.invalid("a scale of " + scale + "; cast the column to another one");
    }
    roomFor(slot + (long) source.rows());
    for (int i = 0; i < source.rows(); i++) {
      if (!source.isNull(i)) {
        copy((slot + i) * width, numbers, (source.from() + i) * wide, wide);
        if (!fits(numbers, (source.from() + i) * wide, wide)) {
          p.atSourceRow(source.number(i));
          throw p.invalid("a decimal of more than " + maxPrecision + " digits");
        }
        values++;
        this.scale = scale;
      }
    }
  }

  private void copy(int at, ByteBuffer numbers, int from, int wide) {
    if (wide == 4) {
      int low = numbers.getInt(from);
      LittleEndian.putLong(data, at, low);
      extend(at + 8, at + width, low);
      return;
    }
    int common = Math.min(wide, width);
    long limb = 0;
    for (int i = 0; i < common; i += 8) {
      limb = numbers.getLong(from + i);
      LittleEndian.putLong(data, at + i, limb);
    }
    extend(at + common, at + width, limb);
  }

  /** Whether a number of the source has no more digits than the type. */
  private boolean fits(ByteBuffer numbers, int from, int wide) {
    if (wide == 4) {
      return true;
    }
    // As far as the highest limb decides it: all but what lies within one unit of the bound.
    int top = width - 8;
    if (wide <= top) {
      return true;
    }
    boolean extended = true;
    long highest = numbers.getLong(from + top);
    for (int i = width; i < wide; i += 8) {
      extended &= numbers.getLong(from + i) == highest >> 63;
    }
    if (extended && highest < topOfBound && highest > -topOfBound) {
      return true;
    }
    byte[] number = new byte[wide];
    for (int i = 0; i < wide; i++) {
      number[i] = numbers.get(from + wide - 1 - i);
    }
    return new BigInteger(number).abs().compareTo(bound) < 0;
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
