package org.questdbsf.spark;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.questdbsf.qwp.QwpType;

/**
 * What a Spark type is to the sink, and which QuestDB types it may be written to. A pair is here
 * only if every value either arrives unchanged or is refused.
 */
enum SourceKind {
  BOOLEAN(QwpType.BOOLEAN),
  BYTE(Sets.INTEGERS),
  SHORT(Sets.INTEGERS),
  INT(Sets.INTEGERS),
  LONG(Sets.LONGS),
  FLOAT(QwpType.FLOAT, QwpType.DOUBLE),
  DOUBLE(QwpType.DOUBLE, QwpType.FLOAT),
  /** DOUBLE only where {@code decimals_double} names the column. */
  DECIMAL(QwpType.DECIMAL64, QwpType.DECIMAL128, QwpType.DECIMAL256, QwpType.DOUBLE),
  STRING(
      QwpType.VARCHAR,
      QwpType.SYMBOL,
      QwpType.CHAR,
      QwpType.UUID,
      QwpType.IPV4,
      QwpType.LONG256,
      QwpType.GEOHASH),
  BINARY(QwpType.BINARY, QwpType.UUID, QwpType.LONG256),
  TIMESTAMP(Sets.TIMES),
  TIMESTAMP_NTZ(Sets.TIMES),
  DATE(Sets.TIMES),
  /** Spark 4.1 and later; LONG as microseconds since midnight, only by name. */
  TIME(QwpType.LONG),
  /** LONG as microseconds, only by name. */
  DAY_TIME_INTERVAL(QwpType.LONG),
  YEAR_MONTH_INTERVAL(),
  DOUBLE_ARRAY(QwpType.DOUBLE_ARRAY),
  /** Arrays of whole numbers; only by name. */
  LONG_ARRAY(QwpType.DOUBLE_ARRAY),
  OTHER_ARRAY(),
  STRUCT(),
  MAP(),
  VARIANT(),
  NULL(),
  UNKNOWN();

  private static final class Sets {
    static final QwpType[] INTEGERS = {
      QwpType.BYTE,
      QwpType.SHORT,
      QwpType.INT,
      QwpType.LONG,
      QwpType.FLOAT,
      QwpType.DOUBLE,
      QwpType.DECIMAL64,
      QwpType.DECIMAL128,
      QwpType.DECIMAL256
    };
    static final QwpType[] TIMES = {QwpType.TIMESTAMP, QwpType.TIMESTAMP_NANOS, QwpType.DATE};
    static final QwpType[] LONGS = {
      QwpType.BYTE,
      QwpType.SHORT,
      QwpType.INT,
      QwpType.LONG,
      QwpType.FLOAT,
      QwpType.DOUBLE,
      QwpType.DECIMAL64,
      QwpType.DECIMAL128,
      QwpType.DECIMAL256,
      QwpType.TIMESTAMP,
      QwpType.TIMESTAMP_NANOS,
      QwpType.DATE
    };
  }

  private final Set<QwpType> targets = EnumSet.noneOf(QwpType.class);

  SourceKind(QwpType... targets) {
    this.targets.addAll(Set.of(targets));
  }

  static SourceKind of(DataType type) {
    if (type instanceof BooleanType) {
      return BOOLEAN;
    } else if (type instanceof ByteType) {
      return BYTE;
    } else if (type instanceof ShortType) {
      return SHORT;
    } else if (type instanceof IntegerType) {
      return INT;
    } else if (type instanceof LongType) {
      return LONG;
    } else if (type instanceof FloatType) {
      return FLOAT;
    } else if (type instanceof DoubleType) {
      return DOUBLE;
    } else if (type instanceof DecimalType) {
      return DECIMAL;
    } else if (type instanceof StringType || isFixedText(type)) {
      return STRING;
    } else if (type instanceof BinaryType) {
      return BINARY;
    }
    return ofTime(type);
  }

  private static SourceKind ofTime(DataType type) {
    if (type instanceof TimestampType) {
      return TIMESTAMP;
    } else if (type instanceof TimestampNTZType) {
      return TIMESTAMP_NTZ;
    } else if (type instanceof DateType) {
      return DATE;
    } else if (type instanceof DayTimeIntervalType) {
      return DAY_TIME_INTERVAL;
    } else if (type instanceof YearMonthIntervalType) {
      return YEAR_MONTH_INTERVAL;
    }
    return ofNested(type);
  }

  private static SourceKind ofNested(DataType type) {
    if (type instanceof ArrayType) {
      return switch (of(leaf(type))) {
        case DOUBLE, FLOAT -> DOUBLE_ARRAY;
        case BYTE, SHORT, INT, LONG -> LONG_ARRAY;
        default -> OTHER_ARRAY;
      };
    } else if (type instanceof StructType) {
      return STRUCT;
    } else if (type instanceof MapType) {
      return MAP;
    } else if (type instanceof NullType) {
      return NULL;
    }
    // Types that Spark 3.5 does not have are known by name.
    String name = type.typeName();
    return name.equals("variant") ? VARIANT : name.startsWith("time(") ? TIME : UNKNOWN;
  }

  private static boolean isFixedText(DataType type) {
    return type.typeName().startsWith("varchar") || type.typeName().startsWith("char");
  }

  /** A type for messages. SQL has a user-defined type as what it is stored as, which would fit. */
  static String named(DataType type) {
    if (type instanceof UserDefinedType<?> own) {
      String name = own.pyUDT() == null ? own.getClass().getName() : own.pyUDT();
      return name + " (user-defined, stored as " + own.sqlType().sql() + ")";
    }
    return type.sql();
  }

  /** The element type of nested arrays. */
  static DataType leaf(DataType type) {
    return type instanceof ArrayType ? leaf(((ArrayType) type).elementType()) : type;
  }

  /** How deep arrays are nested. */
  static int dimensions(DataType type) {
    return type instanceof ArrayType ? 1 + dimensions(((ArrayType) type).elementType()) : 0;
  }

  /** Whether a value of this kind may be written to a column of that type. */
  boolean fits(QwpType target) {
    return targets.contains(target);
  }

  /** What it may be written to, as DDL has it, for messages. */
  List<String> targets() {
    return targets.stream().map(SourceKind::ddl).distinct().toList();
  }

  private static String ddl(QwpType type) {
    return switch (type) {
      case DECIMAL64, DECIMAL128, DECIMAL256 -> "DECIMAL";
      case TIMESTAMP_NANOS -> "TIMESTAMP_NS";
      case DOUBLE_ARRAY -> "DOUBLE[]";
      default -> type.name();
    };
  }

  /** The type, or the first in a struct, map or array, that cannot be written, not even as JSON. */
  static Optional<DataType> unknownIn(DataType type) {
    if (type instanceof StructType struct) {
      return Stream.of(struct.fields())
          .map(field -> unknownIn(field.dataType()))
          .flatMap(Optional::stream)
          .findFirst();
    } else if (type instanceof ArrayType array) {
      return unknownIn(array.elementType());
    } else if (type instanceof MapType map) {
      return unknownIn(map.keyType()).or(() -> unknownIn(map.valueType()));
    }
    return of(type) == UNKNOWN ? Optional.of(type) : Optional.empty();
  }

  /** Whether it can be written as JSON text where the user asks for that. */
  boolean fitsJson() {
    return switch (this) {
      case STRUCT, MAP, VARIANT, OTHER_ARRAY, LONG_ARRAY, DAY_TIME_INTERVAL, YEAR_MONTH_INTERVAL ->
          true;
      default -> false;
    };
  }
}
