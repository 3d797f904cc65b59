package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.TtlFloor;

/** Encodes rows of one schema and reads them back. */
final class Trip {
  final StructType schema;
  final SymbolDictionary dictionary = new SymbolDictionary();
  final TableBlock block = new TableBlock("t", dictionary, 127);
  final RowEncoder encoder;
  final RowEncoder.Binding binding;
  final UnsafeProjection unsafe;

  Trip(String ddl, String... options) {
    this.schema = StructType.fromDDL(ddl);
    Map<String, String> map = new HashMap<>(Map.of("addr", "h:1", "table", "t"));
    for (int i = 0; i < options.length; i += 2) {
      map.put(options[i], options[i + 1]);
    }
    SfOptions read = SfOptions.of(map);
    RowPlan plan = SchemaCheck.plan(read, schema, null);
    this.encoder = new RowEncoder(plan, read);
    DesignatedRange range =
        plan.designated() == null
            ? null
            : new DesignatedRange(plan.designated().target().type(), new TtlFloor(), TtlFloor.NONE);
    this.binding = encoder.bind(block, range);
    this.unsafe = UnsafeProjection.create(schema);
  }

  /** Adds a row twice: as Spark's generic row, and as the UnsafeRow that it mostly hands over. */
  Trip add(Object... values) {
    InternalRow row = new GenericInternalRow(values);
    encoder.fill(row, binding);
    binding.block().endRow();
    encoder.fill(unsafe.apply(row), binding);
    binding.block().endRow();
    return this;
  }

  Map<String, DecodedColumn> read() throws Exception {
    MessageEncoder out = new MessageEncoder();
    out.encode(block, 0, block.rows(), dictionary, 0, dictionary.size());
    QwpMessage message =
        new MessageDecoder(new ConnectionSymbols()).decode(out.array(), 0, out.length());
    DecodedTable table = message.tables().get(0);
    assertEquals(block.rows(), table.rows());
    Map<String, DecodedColumn> columns = new LinkedHashMap<>();
    table.columns().forEach(column -> columns.put(column.name(), column));
    return columns;
  }

  DecodedColumn readOne() throws Exception {
    return read().values().iterator().next();
  }

  void refuses(Object value, String... words) {
    int before = block.rows();
    SfException e = Errors.of(ErrorCode.VALUE_INVALID, () -> add(value), words);
    Errors.says(e.getMessage(), "table 't'", "column '");
    assertEquals(before, block.rows());
  }
}
