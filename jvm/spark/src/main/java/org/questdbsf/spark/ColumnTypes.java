package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.UserDefinedType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.TableFacts;

/**
 * Chooses the QuestDB type of each column: the options {@code column_types} and {@code symbols},
 * else the column's metadata, else the live table, else the default of the Spark type.
 */
final class ColumnTypes {
  private final SfOptions options;
  private final Map<Integer, TargetType> chosen;
  private final Map<String, String> live = new HashMap<>();
  private final TableFacts facts;
  private final Set<String> asDouble = new HashSet<>();

  ColumnTypes(SfOptions options, Map<Integer, TargetType> chosen, TableFacts facts) {
    this.options = options;
    this.chosen = chosen;
    this.facts = facts;
    if (facts != null) {
      facts.columns().forEach((name, type) -> live.put(Names.fold(name), type));
    }
    options.list(SfOption.DECIMALS_DOUBLE).forEach(name -> asDouble.add(Names.fold(name)));
  }

  /** The type of an ordinary column; empty if it is left out. */
  Optional<TargetType> of(int ordinal, StructField field) {
    SourceKind kind = SourceKind.of(field.dataType());
    if (kind == SourceKind.NULL) {
      return Optional.empty();
    }
    TargetType asked = asked(ordinal, field);
    if (asked != null) {
      return Optional.of(checked(field, kind, asked, "as asked for"));
    }
    String there = live.get(Names.fold(field.name()));
    if (there != null && !jsonWanted(kind)) {
      Optional<TargetType> fitting = fromLive(field, kind, there);
      if (fitting.isPresent()) {
        return fitting;
      }
    }
    return byDefault(field, kind);
  }

  /** The type of the designated timestamp. */
  ColumnPlan designated(int ordinal, StructField field) {
    SourceKind kind = SourceKind.of(field.dataType());
    boolean time =
        kind == SourceKind.TIMESTAMP
            || kind == SourceKind.TIMESTAMP_NTZ
            || kind == SourceKind.DATE
            || kind == SourceKind.LONG;
    if (!time) {
      throw wrongType(
          field,
          "timestamp takes a Timestamp, TimestampNTZ or Date, or a Long with timestamp_unit");
    }
    TargetType asked = asked(ordinal, field);
    if (asked != null
        && asked.type() != QwpType.TIMESTAMP
        && asked.type() != QwpType.TIMESTAMP_NANOS) {
      throw wrongType(
          field, "the designated timestamp is TIMESTAMP or TIMESTAMP_NS, not " + asked.ddl());
    }
    if (asked == null) {
      boolean nanos = kind == SourceKind.LONG && options.is(SfOption.TIMESTAMP_UNIT, "ns");
      asked = TargetType.of(nanos ? QwpType.TIMESTAMP_NANOS : QwpType.TIMESTAMP);
      String there =
          facts == null ? null : facts.designated().map(facts.columns()::get).orElse(null);
      if (there != null) {
        asked =
            TargetType.of(
                there.equalsIgnoreCase("TIMESTAMP_NS")
                    ? QwpType.TIMESTAMP_NANOS
                    : QwpType.TIMESTAMP);
      }
    }
    checkName(field);
    return new ColumnPlan(ordinal, field.name(), field.dataType(), asked);
  }

  /** The rows' time goes to the table's, whatever its name: then no other may have that name. */
  private void checkName(StructField field) {
    String designated = facts == null ? null : facts.designated().orElse(null);
    if (designated != null
        && !Names.fold(designated).equals(Names.fold(field.name()))
        && live.containsKey(Names.fold(field.name()))) {
      throw new SfException(
          ErrorCode.TABLE_MISMATCH,
          "timestamp names '"
              + field.name()
              + "', which is an ordinary column of the table, whose designated timestamp is '"
              + designated
              + "': the times would go there, and '"
              + field.name()
              + "' stay null. Rename the rows' column to '"
              + designated
              + "', and select it under both names if both are to be filled.");
    }
  }

  private TargetType asked(int ordinal, StructField field) {
    TargetType asked = chosen.get(ordinal);
    if (asked == null && field.metadata().contains(SchemaCheck.TYPE_METADATA)) {
      asked =
          TargetType.parse(
              field.metadata().getString(SchemaCheck.TYPE_METADATA),
              "metadata " + SchemaCheck.TYPE_METADATA + " of column '" + field.name() + "'");
    }
    return asked;
  }

  private Optional<TargetType> fromLive(StructField field, SourceKind kind, String there) {
    TargetType target;
    try {
      target = TargetType.parse(there, "column '" + field.name() + "' of the table");
    } catch (SfException e) {
      throw new SfException(
          ErrorCode.TABLE_MISMATCH,
          ofTable(field) + " is " + there + ", a type that rows cannot be written to.",
          e);
    }
    boolean byNameOnly = kind == SourceKind.TIME || kind == SourceKind.DAY_TIME_INTERVAL;
    if (byNameOnly || !kind.fits(target.type()) || hasOtherDepth(field, target)) {
      throw new SfException(
          ErrorCode.TABLE_MISMATCH,
          ofTable(field)
              + " is "
              + there
              + ", and "
              + SourceKind.named(field.dataType())
              + " in the rows, which cannot be written to it unchanged; cast it"
              + (byNameOnly ? ", or name the type in column_types." : "."));
    }
    return Optional.of(checked(field, kind, target, "as the table has it"));
  }

  private TargetType checked(StructField field, SourceKind kind, TargetType target, String why) {
    DataType source = field.dataType();
    boolean json = target.type() == QwpType.VARCHAR && jsonWanted(kind);
    if (!json && !kind.fits(target.type())) {
      throw wrongType(
          field,
          target.ddl()
              + " ("
              + why
              + ") is written from other types"
              + (kind.targets().isEmpty()
                  ? ""
                  : "; " + SourceKind.named(source) + " becomes one of " + kind.targets()));
    }
    if (kind == SourceKind.DECIMAL) {
      return decimal(field, (DecimalType) source, target);
    }
    if (target.precision() == 0 && TargetType.digits(target.type()) > 0) {
      return new TargetType(target.type(), TargetType.digits(target.type()), 0);
    }
    if (hasOtherDepth(field, target)) {
      throw wrongType(field, target.ddl() + " (" + why + ") has another number of dimensions");
    }
    return target;
  }

  private static boolean hasOtherDepth(StructField field, TargetType target) {
    return target.type() == QwpType.DOUBLE_ARRAY
        && SourceKind.dimensions(field.dataType()) != target.precision();
  }

  private String ofTable(StructField field) {
    return "column '" + field.name() + "' of table '" + facts.table() + "'";
  }

  private TargetType decimal(StructField field, DecimalType source, TargetType target) {
    if (target.type() == QwpType.DOUBLE) {
      if (!asDouble.contains(Names.fold(field.name()))) {
        throw wrongType(
            field, "a decimal becomes DOUBLE, losing digits, only where decimals_double names it");
      }
      return target;
    }
    if (target.precision() == 0) { // DECIMAL64 and the like, without digits of their own
      return new TargetType(target.type(), source.precision(), source.scale());
    }
    int wholeDigits = target.precision() - target.scale();
    if (source.scale() > target.scale() || source.precision() - source.scale() > wholeDigits) {
      throw wrongType(field, "its digits do not all fit " + target.ddl());
    }
    return target;
  }

  private Optional<TargetType> byDefault(StructField field, SourceKind kind) {
    DataType source = field.dataType();
    QwpType plain =
        switch (kind) {
          case BOOLEAN -> QwpType.BOOLEAN;
          case BYTE, SHORT, INT -> QwpType.INT; // BYTE and SHORT have no null
          case LONG -> QwpType.LONG;
          case FLOAT -> QwpType.FLOAT;
          case DOUBLE -> QwpType.DOUBLE;
          case STRING -> QwpType.VARCHAR;
          case BINARY -> QwpType.BINARY;
          case TIMESTAMP, TIMESTAMP_NTZ, DATE -> QwpType.TIMESTAMP;
          default -> null;
        };
    if (plain != null) {
      return Optional.of(TargetType.of(plain));
    }
    if (kind == SourceKind.DECIMAL) {
      if (asDouble.contains(Names.fold(field.name()))) {
        return Optional.of(TargetType.of(QwpType.DOUBLE));
      }
      DecimalType decimal = (DecimalType) source;
      return Optional.of(
          new TargetType(
              TargetType.decimalFor(decimal.precision()), decimal.precision(), decimal.scale()));
    }
    if (kind == SourceKind.DOUBLE_ARRAY) {
      return Optional.of(new TargetType(QwpType.DOUBLE_ARRAY, SourceKind.dimensions(source), 0));
    }
    return unsupported(field, kind);
  }

  private Optional<TargetType> unsupported(StructField field, SourceKind kind) {
    if (options.is(SfOption.UNSUPPORTED, "skip")) {
      return Optional.empty();
    }
    Optional<DataType> unknown = SourceKind.unknownIn(field.dataType());
    if (jsonWanted(kind) && unknown.isEmpty()) {
      return Optional.of(TargetType.of(QwpType.VARCHAR));
    }
    List<String> ways = new ArrayList<>();
    if (!kind.targets().isEmpty()) {
      ways.add("name one of " + kind.targets() + " for it in column_types");
    }
    if (kind.fitsJson() && unknown.isEmpty()) {
      ways.add("set unsupported=json for JSON text");
    }
    boolean own = unknown.isPresent() && unknown.get() instanceof UserDefinedType;
    ways.add(own ? "make columns of its parts, by a UDF" : "cast it");
    ways.add("drop it");
    ways.add("set unsupported=skip to leave it out");
    String why =
        unknown
            .filter(type -> type != field.dataType())
            .map(type -> "it holds " + SourceKind.named(type) + ", which has no JSON form")
            .orElse("QuestDB has no such type");
    throw wrongType(field, why + "; " + String.join(", or ", ways));
  }

  private boolean jsonWanted(SourceKind kind) {
    return kind.fitsJson() && options.is(SfOption.UNSUPPORTED, "json");
  }

  /** The error for a column whose type does not go with what is asked of it. */
  SfException wrongType(StructField field, String why) {
    return new SfException(
        ErrorCode.TYPE_UNSUPPORTED,
        "column '"
            + field.name()
            + "' of type "
            + SourceKind.named(field.dataType())
            + " cannot be written: "
            + why
            + ".");
  }
}
