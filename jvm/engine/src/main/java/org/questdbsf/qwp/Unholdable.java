package org.questdbsf.qwp;

/**
 * Looks, in columns filled in bulk, for values that {@link ColumnBuffer} refuses one by one: what
 * QuestDB reads as null, and designated times that it does not take.
 */
final class Unholdable {
  /** Bits of +Infinity; the sign bit and no other makes them −Infinity. */
  private static final long INFINITY = 0x7FF0_0000_0000_0000L;

  private static final int FLOAT_INFINITY = 0x7F80_0000;

  private Unholdable() {}

  /**
   * @param range what the column holds, where it is one of integers or times
   * @param data the column as it is kept
   * @param slot where the rows begin in it
   */
  static void check(
      QwpType type,
      IntegerRange range,
      byte[] data,
      int slot,
      SourceRows source,
      ColumnPlace place) {
    int count = source.rows();
    switch (type) {
      case INT -> {
        for (int i = 0, at = slot << 2; i < count; i++, at += 4) {
          if (LittleEndian.getInt(data, at) == Integer.MIN_VALUE && !source.isNull(i)) {
            throw refused(Integer.MIN_VALUE + "", i, source, place);
          }
        }
      }
      case IPV4 -> {
        for (int i = 0, at = slot << 2; i < count; i++, at += 4) {
          if (LittleEndian.getInt(data, at) == 0 && !source.isNull(i)) {
            throw refused("0.0.0.0", i, source, place);
          }
        }
      }
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE -> ranged(range, data, slot, source, place);
      case UUID -> longs(data, slot, 2, source, place);
      case LONG256 -> longs(data, slot, 4, source, place);
      case CHAR -> chars(data, slot, source, place);
      case FLOAT -> {
        for (int i = 0, at = slot << 2; i < count; i++, at += 4) {
          int bits = LittleEndian.getInt(data, at);
          if ((bits & Integer.MAX_VALUE) == FLOAT_INFINITY && !source.isNull(i)) {
            place.atSourceRow(source.number(i));
            throw place.infinite(Float.intBitsToFloat(bits));
          }
        }
      }
      case DOUBLE -> {
        for (int i = 0, at = slot << 3; i < count; i++, at += 8) {
          long bits = LittleEndian.getLong(data, at);
          if ((bits & Long.MAX_VALUE) == INFINITY && !source.isNull(i)) {
            place.atSourceRow(source.number(i));
            throw place.infinite(Double.longBitsToDouble(bits));
          }
        }
      }
      default -> {
        // BYTE, SHORT: each value is one.
      }
    }
  }

  /** Index of the first infinity among so many doubles, or −1. */
  static int firstInfinite(byte[] data, int at, int count) {
    for (int i = 0; i < count; i++) {
      if ((LittleEndian.getLong(data, at + (i << 3)) & Long.MAX_VALUE) == INFINITY) {
        return i;
      }
    }
    return -1;
  }

  private static void ranged(
      IntegerRange range, byte[] data, int slot, SourceRows source, ColumnPlace place) {
    long min = range.min();
    long max = range.max();
    for (int i = 0, at = slot << 3; i < source.rows(); i++, at += 8) {
      long value = LittleEndian.getLong(data, at);
      if ((value < min || value > max) && !source.isNull(i)) {
        if (value == Long.MIN_VALUE) {
          throw refused(Long.MIN_VALUE + "", i, source, place);
        }
        place.atSourceRow(source.number(i));
        throw place.outOfRange(Long.toString(value), min, max);
      }
    }
  }

  /** Also writes the zero that a null is in CHAR. */
  private static void chars(byte[] data, int slot, SourceRows source, ColumnPlace place) {
    for (int i = 0, at = slot << 1; i < source.rows(); i++, at += 2) {
      char value = (char) LittleEndian.getShort(data, at);
      if (source.isNull(i)) {
        LittleEndian.putShort(data, at, (short) 0);
      } else if (value == 0) {
        throw refused("U+0000", i, source, place);
      } else if (Character.isSurrogate(value)) {
        place.atSourceRow(source.number(i));
        throw place.halfOfAPair(value);
      }
    }
  }

  private static void longs(
      byte[] data, int slot, int limbs, SourceRows source, ColumnPlace place) {
    int at = slot * limbs << 3;
    for (int i = 0; i < source.rows(); i++, at += limbs << 3) {
      if (LittleEndian.getLong(data, at) == Long.MIN_VALUE
          && allLowest(data, at, limbs)
          && !source.isNull(i)) {
        throw refused("the lowest value", i, source, place);
      }
    }
  }

  private static boolean allLowest(byte[] data, int at, int limbs) {
    for (int limb = 1; limb < limbs; limb++) {
      if (LittleEndian.getLong(data, at + (limb << 3)) != Long.MIN_VALUE) {
        return false;
      }
    }
    return true;
  }

  private static RuntimeException refused(
      String value, int row, SourceRows source, ColumnPlace place) {
    place.atSourceRow(source.number(row));
    return place.invalid(value + " is QuestDB's null; give null where that is meant");
  }
}
