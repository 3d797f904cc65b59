package org.questdbsf.testserver;

import io.questdb.cairo.ColumnType;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.QwpType;

/** How a real server refuses a wire type that a column does not take: status and words. */
final class TypeRefusals {
  private TypeRefusals() {}

  static RefusedException of(DecodedColumn values, Target target) throws RefusedException {
    QwpType wire = values.type();
    if (wire == QwpType.GEOHASH && ColumnType.isGeoHash(target.type())) {
      return mismatch(
          "GeoHash precision mismatch [column=%s, columnType=%s, wireBits=%d]"
              .formatted(target.name(), target.typeName(), values.precision()));
    }
    if (wire == QwpType.GEOHASH && isFixedWidth(target)) {
      return new RefusedException(
          RefusedException.WRITE_ERROR, "invalid GeoHash column type: " + target.typeName());
    }
    if (wire == QwpType.DOUBLE_ARRAY && ColumnType.isArray(target.type())) {
      return mismatch(
          "array dimensionality mismatch [column=%s, expected=%s, actual=%s]"
              .formatted(target.name(), target.typeName(), ColumnTypes.arrayName(values)));
    }
    String sent = wire == QwpType.IPV4 ? "IPv4" : wire.toString();
    return mismatch(
        isCoercion(wire, target)
            ? "type coercion from %s to %s is not supported [column=%s]"
                .formatted(sent, target.typeName(), target.name())
            : "cannot write %s to column [column=%s, type=%s]"
                .formatted(sent, target.name(), target.typeName()));
  }

  /** Whether the server calls it a coercion: its words, there is no other difference. */
  private static boolean isCoercion(QwpType wire, Target target) {
    return switch (target.tag()) {
      case ColumnType.IPv4, ColumnType.BINARY -> true;
      case ColumnType.CHAR, ColumnType.STRING, ColumnType.VARCHAR, ColumnType.SYMBOL ->
          wire == QwpType.BINARY;
      case ColumnType.TIMESTAMP -> isFixedWidth(wire);
      default -> isFixedWidth(target) && isFixedWidth(wire);
    };
  }

  private static boolean isFixedWidth(QwpType wire) {
    return switch (wire) {
      case BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DATE, UUID, LONG256, CHAR, IPV4 -> true;
      default -> false;
    };
  }

  private static boolean isFixedWidth(Target target) {
    return switch (target.tag()) {
      case ColumnType.BYTE,
          ColumnType.SHORT,
          ColumnType.INT,
          ColumnType.LONG,
          ColumnType.FLOAT,
          ColumnType.DOUBLE,
          ColumnType.DATE,
          ColumnType.UUID,
          ColumnType.LONG256 ->
          true;
      default -> ColumnType.isGeoHash(target.type());
    };
  }

  private static RefusedException mismatch(String message) {
    return new RefusedException(RefusedException.SCHEMA_MISMATCH, message);
  }
}
