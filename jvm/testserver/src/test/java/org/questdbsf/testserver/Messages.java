package org.questdbsf.testserver;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/** Messages for tests, encoded by the product's encoder. */
final class Messages {
  private Messages() {}

  /** One block that carries the whole dictionary. */
  static byte[] of(String table, Consumer<TableBlock> rows) {
    SymbolDictionary symbols = new SymbolDictionary();
    TableBlock block = new TableBlock(table, symbols, 127);
    rows.accept(block);
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(List.of(block), symbols, 0, symbols.size());
    return Arrays.copyOf(encoder.array(), encoder.length());
  }

  /** One row of a LONG column {@code v} and a designated timestamp, both of this value. */
  static byte[] row(String table, long value) {
    return rows(table, value, 1);
  }

  /** One row of a LONG column of this name and a designated timestamp, both of this value. */
  static byte[] row(String table, String column, long value) {
    return new RawMessage()
        .block(table, 1)
        .column(column, QwpType.LONG, value)
        .column("", QwpType.TIMESTAMP, value)
        .bytes();
  }

  /** The row of {@link #row(String, long)} for each of the tables. */
  static byte[] row(List<String> tables, long value) {
    RawMessage message = new RawMessage();
    for (String table : tables) {
      message.block(table, 1).column("v", QwpType.LONG, value).column("", QwpType.TIMESTAMP, value);
    }
    return message.bytes();
  }

  /** Rows of a LONG column {@code v} and a designated timestamp, counting up from this value. */
  static byte[] rows(String table, long from, int count) {
    return of(
        table,
        block -> {
          for (long value = from; value < from + count; value++) {
            block.column("v", QwpType.LONG).putLong(value);
            block.designated(QwpType.TIMESTAMP).putLong(value);
            block.endRow();
          }
        });
  }

  /** A block with one LONG column and no rows. Ours refuses to encode it. */
  static byte[] withoutRows(String table, String column) {
    return new RawMessage().block(table, 0).column(column, QwpType.LONG).bytes();
  }

  /** The same with the flag that its rows wait for the commit of a later message. */
  static byte[] deferred(byte[] message) {
    byte[] copy = message.clone();
    copy[5] |= 0x01;
    return copy;
  }

  /** A message without tables: commits what was deferred. */
  static byte[] commit() {
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(List.of(), new SymbolDictionary(), 0, 0);
    return Arrays.copyOf(encoder.array(), encoder.length());
  }
}
