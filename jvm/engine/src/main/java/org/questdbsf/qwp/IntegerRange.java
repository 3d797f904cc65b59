package org.questdbsf.qwp;

/**
 * Whole numbers that a type holds, without the one that QuestDB reads as null; empty for types that
 * are no integers, so that one comparison refuses both.
 */
record IntegerRange(long min, long max) {
  private static final IntegerRange LONGS = new IntegerRange(Long.MIN_VALUE + 1, Long.MAX_VALUE);

  static IntegerRange of(QwpType type) {
    return switch (type) {
      case BYTE -> new IntegerRange(Byte.MIN_VALUE, Byte.MAX_VALUE);
      case SHORT -> new IntegerRange(Short.MIN_VALUE, Short.MAX_VALUE);
      case INT -> new IntegerRange(Integer.MIN_VALUE + 1, Integer.MAX_VALUE);
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE -> LONGS;
      case CHAR -> new IntegerRange(0, Character.MAX_VALUE);
      case IPV4 -> new IntegerRange(1, 0xFFFF_FFFFL);
      default -> new IntegerRange(1, 0);
    };
  }
}
