package org.questdbsf.qwp;

/**
 * Values that stand for null in a column without a bitmap (client spec, section on column data):
 * the ones that QuestDB stores for null. BOOLEAN, BYTE, SHORT and CHAR have none; texts, symbols,
 * arrays and decimals neither.
 */
final class Sentinels {
  private Sentinels() {}

  static boolean isNull(DecodedColumn column, int row) {
    return switch (column.type()) {
      case INT -> column.getLong(row) == Integer.MIN_VALUE;
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE -> column.getLong(row) == Long.MIN_VALUE;
      case IPV4 -> column.getLong(row) == 0;
      case FLOAT -> Float.isNaN(column.getFloat(row));
      case DOUBLE -> Double.isNaN(column.getDouble(row));
      case UUID ->
          column.getUuidHi(row) == Long.MIN_VALUE && column.getUuidLo(row) == Long.MIN_VALUE;
      case LONG256 -> allLowest(column, row);
      case GEOHASH -> column.getGeohash(row) == geohash(column.precision());
      default -> false;
    };
  }

  /** All ones in as many whole bytes as the precision takes. */
  static long geohash(int precision) {
    return -1L >>> 64 - (precision + 7) / 8 * 8;
  }

  private static boolean allLowest(DecodedColumn column, int row) {
    for (int limb = 0; limb < 4; limb++) {
      if (column.getLong256(row, limb) != Long.MIN_VALUE) {
        return false;
      }
    }
    return true;
  }
}
