package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.Names;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.EditDistance;
import org.questdbsf.sender.TableFacts;

/**
 * Turns the rows' schema, the options and, where it could be asked for, the live table into a
 * {@link RowPlan}, and refuses at start whatever can be known to fail before a row is sent. Runs on
 * the driver.
 */
final class SchemaCheck {
  /** Key in a column's metadata that names its QuestDB type. */
  static final String TYPE_METADATA = "questdb.type";

  private final SfOptions options;
  private final StructField[] fields;
  private final Map<String, Integer> exact = new HashMap<>();
  private final Map<String, Integer> anyCase = new HashMap<>();
  private final List<String> skipped = new ArrayList<>();
  private final ColumnTypes types;

  private SchemaCheck(SfOptions options, StructType schema, TableFacts live) {
    this.options = options;
    this.fields = schema.fields();
    for (int i = 0; i < fields.length; i++) {
      exact.put(fields[i].name(), i);
      Integer before = anyCase.put(Names.fold(fields[i].name()), i);
      if (before != null) {
        throw new SfException(
            ErrorCode.NAME_INVALID,
            "columns '"
                + fields[before].name()
                + "' and '"
                + fields[i].name()
                + "' differ at most in case, which QuestDB does not tell apart; rename one.");
      }
    }
    this.types = new ColumnTypes(options, byOrdinal(columnTypes()), live);
  }

  /**
   * Checks and plans.
   *
   * @param live the table as the server has it, or null where that is not known
   * @throws SfException CONFIG_*, NAME_INVALID, TYPE_UNSUPPORTED, TABLE_MISMATCH, LIMIT_EXCEEDED
   */
  static RowPlan plan(SfOptions options, StructType schema, TableFacts live) {
    return new SchemaCheck(options, schema, live).plan();
  }

  private RowPlan plan() {
    int table = named(SfOption.TABLE_COLUMN);
    int timestamp = named(SfOption.TIMESTAMP);
    if (table >= 0 && SourceKind.of(fields[table].dataType()) != SourceKind.STRING) {
      throw types.wrongType(fields[table], "table_column takes a string column");
    }
    if (table >= 0 && table == timestamp) {
      throw OptionRules.conflict(
          "table_column and timestamp both name '" + fields[table].name() + "'; keep one.");
    }
    checkSymbols(table, timestamp);
    checkDecimals();
    List<ColumnPlan> columns = new ArrayList<>();
    for (int i = 0; i < fields.length; i++) {
      if (i != table && i != timestamp) {
        add(i, columns);
      }
    }
    ColumnPlan designated = timestamp < 0 ? null : types.designated(timestamp, fields[timestamp]);
    if (columns.isEmpty() && designated == null) {
      throw new SfException(
          ErrorCode.TABLE_MISMATCH,
          "the rows have no column to write; add one, or check unsupported=skip.");
    }
    RowPlan plan =
        new RowPlan(options.text(SfOption.TABLE).orElse(null), table, designated, columns, skipped);
    checkLimits(plan);
    return plan;
  }

  private void add(int ordinal, List<ColumnPlan> columns) {
    Optional<TargetType> target = types.of(ordinal, fields[ordinal]);
    if (target.isPresent()) {
      StructField field = fields[ordinal];
      columns.add(new ColumnPlan(ordinal, field.name(), field.dataType(), target.get()));
    } else {
      skipped.add(fields[ordinal].name() + " " + SourceKind.named(fields[ordinal].dataType()));
    }
  }

  private void checkSymbols(int table, int timestamp) {
    for (String name : options.list(SfOption.SYMBOLS)) {
      int at = find(name, SfOption.SYMBOLS);
      if (at == timestamp || at == table) {
        throw OptionRules.conflict(
            "symbols names '"
                + fields[at].name()
                + "', which is the "
                + (at == timestamp ? "timestamp" : "table_column")
                + "; drop it from symbols.");
      }
      if (SourceKind.of(fields[at].dataType()) != SourceKind.STRING) {
        throw types.wrongType(fields[at], "symbols takes string columns");
      }
    }
  }

  private void checkDecimals() {
    for (String name : options.list(SfOption.DECIMALS_DOUBLE)) {
      int at = find(name, SfOption.DECIMALS_DOUBLE);
      if (SourceKind.of(fields[at].dataType()) != SourceKind.DECIMAL) {
        throw types.wrongType(fields[at], "decimals_double takes decimal columns");
      }
    }
  }

  private Map<String, TargetType> columnTypes() {
    Map<String, TargetType> byName =
        options.text(SfOption.COLUMN_TYPES).map(TargetType::parseList).orElse(Map.of());
    for (String symbol : options.list(SfOption.SYMBOLS)) {
      TargetType said = byName.get(symbol);
      if (said != null && said.type() != QwpType.SYMBOL) {
        throw OptionRules.conflict(
            "column '"
                + symbol
                + "' is in symbols, and column_types says "
                + said.ddl()
                + "; keep one.");
      }
    }
    return byName;
  }

  private Map<Integer, TargetType> byOrdinal(Map<String, TargetType> byName) {
    Map<Integer, TargetType> chosen = new LinkedHashMap<>();
    byName.forEach((name, type) -> chosen.put(find(name, SfOption.COLUMN_TYPES), type));
    for (String name : options.list(SfOption.SYMBOLS)) {
      chosen.put(find(name, SfOption.SYMBOLS), TargetType.of(QwpType.SYMBOL));
    }
    return chosen;
  }

  private int named(SfOption option) {
    return options.text(option).map(name -> find(name, option)).orElse(-1);
  }

  private int find(String name, SfOption option) {
    Integer at = exact.getOrDefault(name, anyCase.get(Names.fold(name)));
    if (at == null) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "option "
              + option
              + " names column '"
              + name
              + "', which the rows do not have"
              + EditDistance.nearest(name, exact.keySet())
                  .map(near -> "; did you mean '" + near + "'?")
                  .orElse(".")
              + " They have: "
              + String.join(", ", names())
              + ".");
    }
    return at;
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < fields.length && i < 20; i++) {
      names.add(fields[i].name());
    }
    if (fields.length > names.size()) {
      names.add("and " + (fields.length - names.size()) + " more");
    }
    return names;
  }

  /** Names are checked by what will encode them; a table that a column names, row by row. */
  private void checkLimits(RowPlan plan) {
    int count = plan.columns().size() + (plan.designated() == null ? 0 : 1);
    if (count > QwpLimits.MAX_COLUMNS) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          "the rows have "
              + count
              + " columns, and a table takes at most "
              + QwpLimits.MAX_COLUMNS
              + "; select fewer.");
    }
    int maxName = options.number(SfOption.MAX_NAME_LEN).orElseThrow().intValue();
    String table = plan.table() == null ? "t" : plan.table();
    TableBlock trial = new TableBlock(table, new SymbolDictionary(), maxName);
    for (ColumnPlan column : plan.columns()) {
      trial.column(column.name(), column.target().type());
    }
  }
}
