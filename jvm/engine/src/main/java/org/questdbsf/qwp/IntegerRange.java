package org.questdbsf.qwp;

/**
 * Whole numbers that a column holds, without the one that QuestDB reads as null; empty for types
 * that are no integers, so that one comparison refuses both.
 */
record IntegerRange(long min, long max) {
  private static final IntegerRange LONGS = new IntegerRange(Long.MIN_VALUE + 1, Long.MAX_VALUE);

  static IntegerRange of(QwpType type) {
    return switch (type) {
      case BYTE -> new IntegerRange(Byte.MIN_VALUE, Byte.MAX_VALUE);
      case SHORT -> new IntegerRange(Short.MIN_VALUE, Short.MAX_VALUE);
      case INT -> new IntegerRange(Integer.MIN_VALUE + 1, Integer.MAX_VALUE);
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE -> LONGS;
      case CHAR -> new IntegerRange(1, Character.MAX_VALUE);
      case IPV4 -> new IntegerRange(1, 0xFFFF_FFFFL);
      default -> new IntegerRange(1, 0);
    };
  }

  /**
   * Times that a designated timestamp takes: QuestDB refuses the whole frame of a row before 1970
   * or after {@link QwpLimits#MAX_DESIGNATED_MICROS}, and does not survive one after {@link
   * QwpLimits#MAX_DESIGNATED_NANOS}.
   */
  static IntegerRange designated(QwpType type) {
    return new IntegerRange(
        0,
        type == QwpType.TIMESTAMP_NANOS
            ? QwpLimits.MAX_DESIGNATED_NANOS
            : QwpLimits.MAX_DESIGNATED_MICROS);
  }
}
