package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import org.questdbsf.qwp.DecodedColumn;

/** Wire types and QuestDB's: which column a wire column makes, and how both are called. */
final class ColumnTypes {
  /** The column cannot be made yet: nothing says how many dimensions its arrays have. */
  static final int UNKNOWN = ColumnType.UNDEFINED;

  private ColumnTypes() {}

  /** Type of the column that is added for values of this wire column. */
  static int columnTypeFor(DecodedColumn column) {
    return switch (column.type()) {
      case BOOLEAN -> ColumnType.BOOLEAN;
      case BYTE -> ColumnType.BYTE;
      case SHORT -> ColumnType.SHORT;
      case INT -> ColumnType.INT;
      case LONG -> ColumnType.LONG;
      case FLOAT -> ColumnType.FLOAT;
      case DOUBLE -> ColumnType.DOUBLE;
      case SYMBOL -> ColumnType.SYMBOL;
      case TIMESTAMP -> ColumnType.TIMESTAMP_MICRO;
      case DATE -> ColumnType.DATE;
      case UUID -> ColumnType.UUID;
      case LONG256 -> ColumnType.LONG256;
      case GEOHASH -> ColumnType.getGeoHashTypeWithBits(column.precision());
      case VARCHAR -> ColumnType.VARCHAR;
      case TIMESTAMP_NANOS -> ColumnType.TIMESTAMP_NANO;
      case DOUBLE_ARRAY -> arrayType(ColumnType.DOUBLE, column);
      case LONG_ARRAY -> arrayType(ColumnType.LONG, column);
      case DECIMAL64 -> decimalType(18, column.scale());
      case DECIMAL128 -> decimalType(38, column.scale());
      case DECIMAL256 -> decimalType(76, column.scale());
      case CHAR -> ColumnType.CHAR;
      case BINARY -> ColumnType.BINARY;
      case IPV4 -> ColumnType.IPv4;
    };
  }

  /** Dimensions of the first array of the column, 0 if all are null. */
  static int dimensions(DecodedColumn column) {
    for (int row = 0; row < column.rows(); row++) {
      if (!column.isNull(row)) {
        return column.getShape(row).length;
      }
    }
    return 0;
  }

  /** The wire type in words, with what belongs to it. */
  static String describe(DecodedColumn column) {
    return switch (column.type()) {
      case GEOHASH -> "GEOHASH(" + column.precision() + "b)";
      case DECIMAL64, DECIMAL128, DECIMAL256 -> column.type() + "(scale " + column.scale() + ")";
      case DOUBLE_ARRAY -> "DOUBLE" + "[]".repeat(dimensions(column));
      case LONG_ARRAY -> "LONG" + "[]".repeat(dimensions(column));
      default -> column.type().toString();
    };
  }

  private static int arrayType(short element, DecodedColumn column) {
    int dimensions = dimensions(column);
    return dimensions == 0 ? UNKNOWN : ColumnType.encodeArrayType(element, dimensions);
  }

  /** A scale beyond the usual precision of the width widens the column, so that it is legal. */
  private static int decimalType(int precision, int scale) {
    return ColumnType.getDecimalType(Math.max(precision, scale), scale);
  }
}
