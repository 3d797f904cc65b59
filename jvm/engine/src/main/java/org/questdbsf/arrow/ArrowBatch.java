package org.questdbsf.arrow;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.BulkColumn;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SourceRows;
import org.questdbsf.qwp.SourceSpans;
import org.questdbsf.qwp.SourceSymbols;
import org.questdbsf.qwp.TableBlock;

/**
 * One record batch: buffers by column, then {@link #write}. Each column says where its first row is
 * in its buffers ({@code from}: Arrow's offset) and which rows are null ({@code validity}: Arrow's
 * bitmap, null where all have a value). Buffers are little-endian, direct or not, and must stay as
 * they are until {@code write} returns; nothing of them is kept after that.
 *
 * <p>A name of null means the designated timestamp.
 */
public final class ArrowBatch {
  private final ArrowWriter writer;
  private final FrameBlock frames;
  private final SourceRows rows;
  private final List<Column> columns = new ArrayList<>();
  private long published;

  ArrowBatch(ArrowWriter writer, FrameBlock frames, SourceRows rows) {
    this.writer = writer;
    this.frames = frames;
    this.rows = rows;
  }

  /** Fills a column with some of the rows. */
  private interface Filler {
    void fill(BulkColumn column, SourceRows rows);
  }

  private record Column(String name, QwpType type, SourceRows rows, Filler filler) {
    void fill(TableBlock block, int at, int count) {
      ColumnBuffer buffer = name == null ? block.designated(type) : block.column(name, type);
      BulkColumn column = new BulkColumn(buffer);
      SourceRows part = rows.part(at, count);
      if (name == null) {
        column.requireValues(part);
      }
      filler.fill(column, part);
    }
  }

  private void add(String name, QwpType type, ByteBuffer validity, int from, Filler filler) {
    columns.add(new Column(name, type, rows.of(validity, from), filler));
  }

  /** See {@link BulkColumn#putFixed}. */
  public void fixed(String name, QwpType type, ByteBuffer validity, int from, ByteBuffer values) {
    add(name, type, validity, from, (column, part) -> column.putFixed(part, values));
  }

  /** See {@link BulkColumn#putIntegers}. */
  public void integers(
      String name,
      QwpType type,
      ByteBuffer validity,
      int from,
      ByteBuffer values,
      int width,
      boolean signed,
      long factor) {
    add(
        name,
        type,
        validity,
        from,
        (column, part) -> column.putIntegers(part, values, width, signed, factor));
  }

  /** Booleans; see {@link BulkColumn#putBits}. */
  public void bits(String name, ByteBuffer validity, int from, ByteBuffer bits) {
    add(name, QwpType.BOOLEAN, validity, from, (column, part) -> column.putBits(part, bits));
  }

  /** See {@link BulkColumn#putUuids}. */
  public void uuids(String name, ByteBuffer validity, int from, ByteBuffer values) {
    add(name, QwpType.UUID, validity, from, (column, part) -> column.putUuids(part, values));
  }

  /** See {@link BulkColumn#putDecimals}. */
  public void decimals(
      String name,
      QwpType type,
      ByteBuffer validity,
      int from,
      ByteBuffer numbers,
      int width,
      int scale) {
    add(
        name,
        type,
        validity,
        from,
        (column, part) -> column.putDecimals(part, numbers, width, scale));
  }

  /**
   * Texts or binaries: VARCHAR, SYMBOL, BINARY.
   *
   * @param wide whether offsets have 64 bits
   * @param base the offset that belongs to the first byte of {@code data}
   */
  public void spans(
      String name,
      QwpType type,
      ByteBuffer validity,
      int from,
      ByteBuffer offsets,
      boolean wide,
      long base,
      ByteBuffer data) {
    SourceSpans spans = new SourceSpans(offsets, wide, base, data, 1);
    add(name, type, validity, from, (column, part) -> column.putSpans(part, spans));
  }

  /**
   * Symbols by index into a dictionary of texts without nulls.
   *
   * @param width bytes of an index
   * @param entries texts in the dictionary
   * @param entriesFrom where the first of them is in {@code offsets}
   */
  public void symbols(
      String name,
      ByteBuffer validity,
      int from,
      ByteBuffer indexes,
      int width,
      ByteBuffer offsets,
      boolean wide,
      long base,
      ByteBuffer data,
      int entriesFrom,
      int entries) {
    SourceSymbols symbols =
        new SourceSymbols(
            indexes,
            width,
            new SourceSpans(offsets, wide, base, data, 1),
            new SourceRows(null, entriesFrom, entries, 0));
    add(name, QwpType.SYMBOL, validity, from, (column, part) -> column.putSymbols(part, symbols));
  }

  /**
   * Lists of doubles, for DOUBLE_ARRAY.
   *
   * @param wide whether offsets have 64 bits
   * @param base the offset that belongs to the first of {@code elements}
   * @param elementValidity which elements have a value, or null where all have
   * @param elementsFrom where the first element is in {@code elementValidity}
   */
  public void lists(
      String name,
      ByteBuffer validity,
      int from,
      ByteBuffer offsets,
      boolean wide,
      long base,
      ByteBuffer elements,
      ByteBuffer elementValidity,
      int elementsFrom) {
    SourceSpans spans = new SourceSpans(offsets, wide, base, elements, Double.BYTES);
    SourceRows all =
        new SourceRows(elementValidity, elementsFrom, elements.limit() / Double.BYTES, 0);
    add(
        name,
        QwpType.DOUBLE_ARRAY,
        validity,
        from,
        (column, part) -> column.putDoubleArrays(part, spans, all));
  }

  /**
   * Publishes all rows, in frames, and forgets the buffers. A batch is written once.
   *
   * <p>When it throws, {@link #published} rows from the first on are in the ring, and no other; a
   * batch that begins behind them goes on where this one ended.
   *
   * @throws SfException as {@link BulkColumn} and {@link org.questdbsf.sender.Sender#publish}
   */
  public void write() throws InterruptedException {
    long before = frames.rowsPublished();
    boolean done = false;
    try {
      for (int at = 0; at < rows.rows(); ) {
        int count = frames.rows(rows.rows() - at);
        fill(at, count);
        frames.publish(rows.part(at, count).firstNumber());
        at += count;
      }
      done = true;
    } finally {
      published = frames.rowsPublished() - before;
      columns.clear();
      if (!done) {
        writer.forget(frames);
      }
    }
  }

  private void fill(int at, int count) {
    TableBlock block = frames.empty();
    int symbols = block.dictionary().size();
    boolean filled = false;
    try {
      for (Column column : columns) {
        column.fill(block, at, count);
      }
      block.endRows(count);
      filled = true;
    } finally {
      if (!filled) {
        block.dictionary().rollbackTo(symbols);
      }
    }
  }

  /** Rows of this batch that are in the ring. */
  public long published() {
    return published;
  }
}
