package org.questdbsf.qwp;

/** Looks for the values of fixed width that QuestDB reads as null: they are refused. */
final class Lowest {
  private Lowest() {}

  /**
   * @param data the column as it is kept
   * @param slot where the rows begin in it
   */
  static void check(QwpType type, byte[] data, int slot, SourceRows source, ColumnPlace place) {
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
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE -> longs(data, slot, 1, source, place);
      case UUID -> longs(data, slot, 2, source, place);
      case LONG256 -> longs(data, slot, 4, source, place);
      default -> {
        // NaN stays, as everywhere; the others have no null, or cannot be confused with it.
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
        throw refused(limbs == 1 ? Long.MIN_VALUE + "" : "the lowest value", i, source, place);
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
