package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import org.questdbsf.qwp.DecodedColumn;

/** Wire types and QuestDB's: which column a wire column makes. */
final class ColumnTypes {
  /** The column cannot be made yet: nothing says how many dimensions its arrays have. */
  static final int UNKNOWN = ColumnType.UNDEFINED;

  private ColumnTypes() {}

  /**
   * Type of the column that is added for values of this wire column.
   *
   * @throws RefusedException if there is none
   */
  static int columnTypeFor(DecodedColumn column) throws RefusedException {
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
      case DOUBLE_ARRAY -> arrayType(column);
      case LONG_ARRAY ->
          throw new RefusedException(
              RefusedException.SCHEMA_MISMATCH,
              "long arrays are not supported, only double arrays");
      case DECIMAL64 -> decimalType(18, column);
      case DECIMAL128 -> decimalType(38, column);
      case DECIMAL256 -> decimalType(76, column);
      case CHAR -> ColumnType.CHAR;
      case BINARY -> ColumnType.BINARY;
      case IPV4 -> ColumnType.IPv4;
    };
  }

  /**
   * Dimensions of the arrays of the column, 0 if all are null.
   *
   * @throws RefusedException if one has others than the first
   */
  static int dimensions(DecodedColumn column) throws RefusedException {
    int first = 0;
    for (int row = 0; row < column.rows(); row++) {
      int here = column.isNull(row) ? first : column.getShape(row).length;
      if (first != 0 && here != first) {
        throw new RefusedException(
            RefusedException.SCHEMA_MISMATCH,
            "array dimensionality mismatch in QWP batch [column=%s, expectedDims=%d, actualDims=%d]"
                .formatted(column.name(), first, here));
      }
      first = here;
    }
    return first;
  }

  /** The type of an array column for the arrays of this wire column. */
  static String arrayName(DecodedColumn column) throws RefusedException {
    return "DOUBLE" + "[]".repeat(dimensions(column));
  }

  private static int arrayType(DecodedColumn column) throws RefusedException {
    int dimensions = dimensions(column);
    return dimensions == 0 ? UNKNOWN : ColumnType.encodeArrayType(ColumnType.DOUBLE, dimensions);
  }

  /**
   * Stricter than the real server, which makes a column that shows other numbers than were sent.
   */
  private static int decimalType(int precision, DecodedColumn column) throws RefusedException {
    if (column.scale() > precision) {
      throw new RefusedException(
          RefusedException.SCHEMA_MISMATCH,
          "column '%s': %s of scale %d, a new column takes at most %d"
              .formatted(column.name(), column.type(), column.scale(), precision));
    }
    return ColumnType.getDecimalType(precision, column.scale());
  }
}
