package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.function.Executable;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** A block, and what comes out of it when it is encoded and decoded. */
abstract class BlockFixture {
  static final long MIN = Long.MIN_VALUE;

  final SymbolDictionary dictionary = new SymbolDictionary();
  final TableBlock block = new TableBlock("t", dictionary, QwpLimits.MAX_NAME_BYTES);

  static SfException refused(ErrorCode code, Executable call) {
    SfException e = assertThrows(SfException.class, call);
    assertEquals(code, e.code(), e.getMessage());
    return e;
  }

  DecodedTable decoded() {
    MessageEncoder encoder = new MessageEncoder();
    encoder.encode(List.of(block), dictionary, 0, dictionary.size());
    try {
      QwpMessage message =
          new MessageDecoder(new ConnectionSymbols()).decode(encoder.array(), 0, encoder.length());
      assertEquals(
          encoder.length(),
          MessageEncoder.overheadBytes(dictionary, 0, dictionary.size()) + block.encodedBytes());
      return message.tables().get(0);
    } catch (MalformedMessageException e) {
      throw new AssertionError(e);
    }
  }

  List<Object> cells(int column) {
    DecodedColumn decoded = decoded().columns().get(column);
    List<Object> cells = new ArrayList<>();
    for (int row = 0; row < decoded.rows(); row++) {
      cells.add(Rendered.cell(decoded, row));
    }
    return cells;
  }

  ColumnBuffer row(String name, QwpType type, Consumer<ColumnBuffer> put) {
    ColumnBuffer column = block.column(name, type);
    put.accept(column);
    block.endRow();
    return column;
  }
}
