package org.questdbsf.qwp;

import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Fills a {@link ColumnBuffer} with the values of many rows from columnar memory, without an object
 * or a call a value. Each column of a block gets the same number of rows, then {@link
 * TableBlock#endRows} ends them. The buffers are read during the call only, whatever their position
 * and byte order.
 *
 * <p>What QuestDB cannot hold is refused as by {@link ColumnBuffer}, and the message names the row
 * by the number that {@link SourceRows} gives it. After an exception the block must be cleared.
 * Used by the producer thread only.
 */
public final class BulkColumn {
  private final QwpType type;
  private final IntegerRange range;
  private final ColumnRows rows;
  private final ColumnPlace place;
  private final SymbolDictionary dictionary;

  public BulkColumn(ColumnBuffer column) {
    this.type = column.type();
    this.range = column.range();
    this.rows = column.rows();
    this.place = column.place();
    this.dictionary = column.block().dictionary();
  }

  /** One job: fill the slots from {@code slot} on. */
  private interface Filler {
    void fill(int slot);
  }

  private void put(SourceRows source, Filler filler) {
    place.atSourceRow(source.number(0));
    int slot = rows.openMany();
    if (!rows.store().hasNull() && type != QwpType.CHAR) { // in CHAR zero reads as null
      refuseNull(source, type + " has no null in QuestDB; give a value, or use a type that has");
    }
    filler.fill(slot);
    rows.took(source);
    place.atSourceRow(-1);
  }

  private void refuseNull(SourceRows source, String why) {
    int row = source.firstNull();
    if (row >= 0) {
      place.atSourceRow(source.number(row));
      throw place.invalid("null; " + why);
    }
  }

  /** Refuses a null in these rows, for the designated timestamp. */
  public void requireValues(SourceRows source) {
    refuseNull(source, "each row needs its time");
  }

  /**
   * Values as the wire has them: INT, LONG, FLOAT, DOUBLE, TIMESTAMP, TIMESTAMP_NANOS, DATE, BYTE,
   * SHORT, CHAR, IPV4 and LONG256 (lowest limb first), little-endian.
   */
  public void putFixed(SourceRows source, ByteBuffer values) {
    if (type.width() == 0 || type == QwpType.UUID || rows.store() instanceof DecimalStore) {
      throw place.mistyped("numbers of fixed width");
    }
    FixedStore store = (FixedStore) rows.store();
    put(
        source,
        slot -> {
          store.put(slot, values, source.from(), source.rows());
          Unholdable.check(type, range, store.data, slot, source, place);
        });
  }

  /**
   * Integers that are widened, narrowed or scaled to the type: values × {@code factor}, exactly.
   *
   * @param width bytes of a value of the source: 1, 2, 4 or 8
   * @param signed whether the source is signed
   */
  public void putIntegers(
      SourceRows source, ByteBuffer values, int width, boolean signed, long factor) {
    if (range.min() > range.max()) {
      throw place.mistyped("an integer");
    }
    long least = -Math.floorDiv(-range.min(), factor);
    long most = Math.floorDiv(range.max(), factor);
    FixedStore store = (FixedStore) rows.store();
    ByteBuffer in = SourceRows.littleEndian(values);
    put(
        source,
        slot -> {
          store.roomFor(slot + (long) source.rows());
          for (int i = 0; i < source.rows(); i++) {
            long value = integer(in, source.from() + i, width, signed);
            boolean good = value >= least && value <= most && (signed || width < 8 || value >= 0);
            if (good) {
              store.putInteger(slot + i, value * factor);
            } else if (!source.isNull(i)) {
              place.atSourceRow(source.number(i));
              String text = signed ? Long.toString(value) : Long.toUnsignedString(value);
              throw place.outOfRange(text, least, most);
            }
          }
          if (type == QwpType.CHAR) {
            Unholdable.check(type, range, store.data, slot, source, place);
          }
        });
  }

  private static long integer(ByteBuffer in, int index, int width, boolean signed) {
    return switch (width) {
      case 1 -> signed ? in.get(index) : in.get(index) & 0xFF;
      case 2 -> signed ? in.getShort(index << 1) : in.getShort(index << 1) & 0xFFFF;
      case 4 -> signed ? in.getInt(index << 2) : in.getInt(index << 2) & 0xFFFF_FFFFL;
      default -> in.getLong(index << 3);
    };
  }

  /** Booleans, a bit each, first row in the lowest bit. */
  public void putBits(SourceRows source, ByteBuffer bits) {
    if (!(rows.store() instanceof BooleanStore store)) {
      throw place.mistyped("a boolean");
    }
    put(source, slot -> store.putBits(slot, bits, source.from(), source.rows()));
  }

  /** UUIDs as their 16 bytes are written, highest first. */
  public void putUuids(SourceRows source, ByteBuffer values) {
    if (type != QwpType.UUID) {
      throw place.mistyped("a UUID");
    }
    FixedStore store = (FixedStore) rows.store();
    ByteBuffer in = SourceRows.littleEndian(values);
    put(
        source,
        slot -> {
          store.roomFor(slot + (long) source.rows());
          for (int i = 0; i < source.rows(); i++) {
            int at = (source.from() + i) << 4;
            store.put(
                slot + i, Long.reverseBytes(in.getLong(at + 8)), Long.reverseBytes(in.getLong(at)));
          }
          Unholdable.check(type, range, store.data, slot, source, place);
        });
  }

  /**
   * Decimals of one scale: unscaled numbers in two's complement, little-endian.
   *
   * @param width bytes of a number: 4, 8, 16 or 32
   */
  public void putDecimals(SourceRows source, ByteBuffer numbers, int width, int scale) {
    if (!(rows.store() instanceof DecimalStore store)) {
      throw place.mistyped("a decimal");
    }
    ByteBuffer in = SourceRows.littleEndian(numbers);
    put(source, slot -> store.put(slot, source, in, width, scale, place));
  }

  /** Texts in UTF-8 for VARCHAR or SYMBOL, or bytes for BINARY. */
  public void putSpans(SourceRows source, SourceSpans spans) {
    switch (type) {
      case SYMBOL -> put(source, slot -> putSymbols(slot, source, spans));
      case VARCHAR, BINARY -> put(source, slot -> putBytes(slot, source, spans));
      default -> throw place.mistyped("a text or binary data");
    }
  }

  private void putSymbols(int slot, SourceRows source, SourceSpans spans) {
    int[] starts = spans.starts(source, place);
    int first = starts[0];
    byte[] bytes = spans.bytes(first, starts[source.rows()]);
    putIds(
        slot,
        source,
        i -> dictionary.idOf(bytes, starts[i] - first, starts[i + 1] - starts[i], place));
  }

  private void putIds(int slot, SourceRows source, IntUnaryOperator ids) {
    ((SymbolStore) rows.store()).put(slot, source, ids, place);
  }

  private void putBytes(int slot, SourceRows source, SourceSpans spans) {
    SpanStore store = (SpanStore) rows.store();
    int[] starts = spans.starts(source, place);
    if (hidesBytes(source, starts)) {
      putOneByOne(store, slot, source, spans, starts);
      return;
    }
    int at = store.put(slot, spans.data(), starts, source.rows());
    if (type == QwpType.VARCHAR) {
      checkUtf8(store.data, at, source, starts);
    }
  }

  /** Whether a null row has bytes; Arrow allows it, here they would be sent. */
  private static boolean hidesBytes(SourceRows source, int[] starts) {
    for (int row = 0; row < source.rows(); row += 64) {
      for (long nulls = source.nulls(row); nulls != 0; nulls &= nulls - 1) {
        int i = row + Long.numberOfTrailingZeros(nulls);
        if (starts[i + 1] > starts[i]) {
          return true;
        }
      }
    }
    return false;
  }

  private void putOneByOne(
      SpanStore store, int slot, SourceRows source, SourceSpans spans, int[] starts) {
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i)) {
        store.skip(slot + i, slot + i + 1);
      } else {
        int length = starts[i + 1] - starts[i];
        byte[] bytes = spans.bytes(starts[i], starts[i + 1]);
        int bad = type == QwpType.VARCHAR ? Utf8.invalidAt(bytes, 0, length) : Utf8.VALID;
        if (bad != Utf8.VALID) {
          throw notUtf8(source, i, bad);
        }
        store.put(slot + i, bytes, 0, length);
      }
    }
  }

  private void checkUtf8(byte[] bytes, int at, SourceRows source, int[] starts) {
    int first = starts[0];
    int all = starts[source.rows()] - first;
    if (Utf8.isAscii(bytes, at, all)) {
      return;
    }
    // Valid text cut between two characters is two valid texts.
    boolean good = Utf8.invalidAt(bytes, at, all) == Utf8.VALID;
    int shift = at - first;
    for (int i = 1; i < source.rows() && good; i++) {
      good = starts[i] - first == all || (bytes[starts[i] + shift] & 0xC0) != 0x80;
    }
    for (int i = 0; i < source.rows() && !good; i++) {
      int bad = Utf8.invalidAt(bytes, starts[i] + shift, starts[i + 1] - starts[i]);
      if (bad != Utf8.VALID) {
        throw notUtf8(source, i, bad - starts[i] - shift);
      }
    }
  }

  private SfException notUtf8(SourceRows source, int row, int at) {
    place.atSourceRow(source.number(row));
    return place.invalid("the text is not UTF-8 at byte " + at);
  }

  /** Symbols by index into a dictionary of the source. */
  public void putSymbols(SourceRows source, SourceSymbols symbols) {
    if (type != QwpType.SYMBOL) {
      throw place.mistyped("a symbol");
    }
    put(
        source,
        slot -> putIds(slot, source, i -> symbols.id(source.from() + i, dictionary, place)));
  }

  /**
   * Arrays of doubles of one dimension.
   *
   * @param elements which elements are null, their index counted as the offsets count
   */
  public void putDoubleArrays(SourceRows source, SourceSpans spans, SourceRows elements) {
    if (type != QwpType.DOUBLE_ARRAY) {
      throw place.mistyped("an array of doubles");
    }
    ArrayStore store = (ArrayStore) rows.store();
    put(
        source,
        slot -> {
          int[] starts = spans.starts(source, place);
          boolean nullElements = elements.hasNulls();
          for (int i = 0; i < source.rows(); i++) {
            int length = starts[i + 1] - starts[i];
            if (source.isNull(i)) {
              store.skip(slot + i, slot + i + 1);
              continue;
            }
            place.atSourceRow(source.number(i));
            if (nullElements && elements.part(starts[i], length).firstNull() >= 0) {
              throw place.error(
                  ErrorCode.VALUE_INVALID, "an array with a null element; QuestDB has none");
            }
            store.put(slot + i, spans.data(), starts[i], length, place);
          }
        });
  }
}
