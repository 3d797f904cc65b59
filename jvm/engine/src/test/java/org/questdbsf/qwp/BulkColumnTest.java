package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is filled in bulk is, byte for byte, what the same values put one by one give. */
class BulkColumnTest {
  private static final int ROUNDS = 60;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Rows in foreign memory: some before those that count, and a bitmap over all of them. */
  private final class Rows {
    final int from = random.nextInt(20);
    final int count = random.nextInt(5) == 0 ? random.nextInt(3) : 1 + random.nextInt(300);
    final boolean[] isNull = new boolean[count];
    final SourceRows source;

    Rows(boolean nulls) {
      ByteBuffer validity = null;
      if (nulls) {
        validity = ByteBuffer.allocateDirect((from + count + 7) / 8);
        byte[] noise = new byte[validity.limit()];
        random.nextBytes(noise);
        validity.put(noise).flip();
        double share = random.nextInt(3) / 2.0;
        for (int i = 0; i < count; i++) {
          isNull[i] = random.nextDouble() < share;
          int bit = from + i;
          int old = validity.get(bit >> 3) & ~(1 << (bit & 7));
          validity.put(bit >> 3, (byte) (isNull[i] ? old : old | 1 << (bit & 7)));
        }
      }
      source = new SourceRows(validity, from, count, 1_000);
    }

    ByteBuffer buffer(int width) {
      byte[] noise = new byte[(from + count) * width];
      random.nextBytes(noise);
      return ByteBuffer.allocateDirect(noise.length)
          .order(ByteOrder.LITTLE_ENDIAN)
          .put(noise)
          .flip();
    }
  }

  /** Encodes the rows put in bulk, in parts, with a column of nulls between, and one by one. */
  private void compare(
      QwpType type,
      Rows rows,
      BiConsumer<BulkColumn, SourceRows> bulk,
      BiConsumer<ColumnBuffer, Integer> single) {
    SymbolDictionary bulkSymbols = new SymbolDictionary();
    SymbolDictionary singleSymbols = new SymbolDictionary();
    TableBlock inBulk = new TableBlock("t", bulkSymbols, 127);
    TableBlock oneByOne = new TableBlock("t", singleSymbols, 127);
    int begun = random.nextInt(3);
    for (TableBlock block : Arrays.asList(inBulk, oneByOne)) {
      for (int i = 0; i < begun; i++) {
        block.column("before", QwpType.LONG).putLong(i);
        block.endRow();
      }
    }
    for (int at = 0; at < rows.count; ) {
      int part = Math.min(rows.count - at, 1 + random.nextInt(150));
      bulk.accept(new BulkColumn(inBulk.column("x", type)), rows.source.part(at, part));
      inBulk.endRows(part);
      at += part;
    }
    for (int i = 0; i < rows.count; i++) {
      ColumnBuffer column = oneByOne.column("x", type);
      if (rows.isNull[i]) {
        column.putNull();
      } else {
        single.accept(column, i);
      }
      oneByOne.endRow();
    }
    assertArrayEquals(
        encoded(oneByOne, singleSymbols), encoded(inBulk, bulkSymbols), "seed " + seed);
  }

  private byte[] encoded(TableBlock block, SymbolDictionary symbols) {
    MessageEncoder encoder = new MessageEncoder();
    assertEquals(symbols.size(), block.symbolLimit(), "seed " + seed);
    long expected = block.encodedBytes() + MessageEncoder.overheadBytes(symbols, 0, symbols.size());
    encoder.encode(block, 0, block.rows(), symbols, 0, symbols.size());
    assertEquals(expected, encoder.length(), "seed " + seed);
    return Arrays.copyOf(encoder.array(), encoder.length());
  }

  private static boolean hasNull(QwpType type) {
    return type != QwpType.BYTE && type != QwpType.SHORT;
  }

  @ParameterizedTest
  @EnumSource(
      value = QwpType.class,
      names = {"BYTE", "SHORT", "INT", "LONG", "TIMESTAMP", "TIMESTAMP_NANOS", "DATE", "CHAR"})
  void integersOfTheTypesOwnWidth(QwpType type) {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(hasNull(type) && round % 2 == 0);
      int width = type.width();
      ByteBuffer values = rows.buffer(width);
      IntFunction<Long> value =
          i ->
              switch (width) {
                case 1 -> (long) values.get(rows.from + i);
                case 2 ->
                    type == QwpType.CHAR
                        ? (long) values.getChar((rows.from + i) * 2)
                        : (long) values.getShort((rows.from + i) * 2);
                case 4 -> (long) values.getInt((rows.from + i) * 4);
                default -> values.getLong((rows.from + i) * 8);
              };
      for (int i = 0; i < rows.count && type == QwpType.CHAR; i++) {
        char c = values.getChar((rows.from + i) * 2);
        if (!rows.isNull[i] && (c == 0 || Character.isSurrogate(c))) {
          values.putChar((rows.from + i) * 2, 'x');
        }
      }
      for (int i = 0; i < rows.count && width >= 4; i++) {
        // The lowest value stands for null, and may lie under one.
        long lowest = width == 4 ? Integer.MIN_VALUE : Long.MIN_VALUE;
        if (rows.isNull[i] && width == 4) {
          values.putInt((rows.from + i) * 4, (int) lowest);
        } else if (rows.isNull[i]) {
          values.putLong((rows.from + i) * 8, lowest);
        }
      }
      compare(
          type,
          rows,
          (column, part) -> column.putFixed(part, values),
          (column, i) -> column.putLong(value.apply(i)));
      compare(
          type,
          rows,
          (column, part) -> column.putIntegers(part, values, width, type != QwpType.CHAR, 1),
          (column, i) -> column.putLong(value.apply(i)));
    }
  }

  @Test
  void floatsAndDoubles() {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(round % 2 == 0);
      ByteBuffer floats = rows.buffer(4);
      ByteBuffer doubles = rows.buffer(8);
      compare(
          QwpType.FLOAT,
          rows,
          (column, part) -> column.putFixed(part, floats),
          (column, i) -> column.putFloat(floats.getFloat((rows.from + i) * 4)));
      compare(
          QwpType.DOUBLE,
          rows,
          (column, part) -> column.putFixed(part, doubles),
          (column, i) -> column.putDouble(doubles.getDouble((rows.from + i) * 8)));
    }
  }

  @Test
  void booleans() {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(false);
      ByteBuffer bits = rows.buffer(1);
      compare(
          QwpType.BOOLEAN,
          rows,
          (column, part) -> column.putBits(part, bits),
          (column, i) -> {
            int bit = rows.from + i;
            column.putBoolean((bits.get(bit >> 3) >> (bit & 7) & 1) != 0);
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void integersThatAreWidenedAndScaled(int width) {
    for (boolean signed : new boolean[] {true, false}) {
      for (int round = 0; round < ROUNDS; round++) {
        Rows rows = new Rows(round % 2 == 0);
        ByteBuffer values = rows.buffer(width);
        long factor = width == 8 ? 1 : new long[] {1, 1_000, 86_400_000_000L / 10_000}[round % 3];
        for (int i = 0; i < rows.count && width == 8; i++) {
          int at = (rows.from + i) * 8;
          values.putLong(at, values.getLong(at) >>> 1 | (signed && i % 2 == 0 ? 1L << 63 | 1 : 0));
        }
        IntFunction<Long> value =
            i -> {
              int at = (rows.from + i) * width;
              return switch (width) {
                case 1 -> signed ? values.get(at) : values.get(at) & 0xFFL;
                case 2 -> signed ? values.getShort(at) : values.getShort(at) & 0xFFFFL;
                case 4 -> signed ? values.getInt(at) : values.getInt(at) & 0xFFFFFFFFL;
                default -> values.getLong(at);
              };
            };
        compare(
            QwpType.TIMESTAMP,
            rows,
            (column, part) -> column.putIntegers(part, values, width, signed, factor),
            (column, i) -> column.putLong(value.apply(i) * factor));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QwpType.class,
      names = {"VARCHAR", "SYMBOL", "BINARY"})
  void textsAndBinaries(QwpType type) {
    String[] words = {"", "a", "buy", "sell", "größer", "€", "😀 and more", "x".repeat(300)};
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(round % 2 == 0);
      boolean wide = round % 3 == 0;
      long base = wide ? 5_000_000_000L : random.nextInt(1_000);
      byte[][] values = new byte[rows.from + rows.count][];
      ByteBuffer offsets =
          ByteBuffer.allocateDirect((values.length + 1) * 8).order(ByteOrder.LITTLE_ENDIAN);
      ByteBuffer data = ByteBuffer.allocateDirect(values.length * 300);
      boolean nullsHideBytes = round % 4 == 0;
      // The data handed over begin with the first row that counts; those before lie before them.
      long before = 0;
      for (int i = 0; i < rows.from; i++) {
        values[i] = words[random.nextInt(words.length)].getBytes(StandardCharsets.UTF_8);
        before += values[i].length;
      }
      long at = base - before;
      for (int i = 0; i < values.length; i++) {
        boolean empty = i >= rows.from && rows.isNull[i - rows.from] && !nullsHideBytes;
        String word = empty ? "" : words[random.nextInt(round % 5 == 0 ? 4 : words.length)];
        values[i] = i < rows.from ? values[i] : word.getBytes(StandardCharsets.UTF_8);
        BulkBuffers.putOffset(offsets, wide, i, at);
        at += values[i].length;
        if (i >= rows.from) {
          data.put(values[i]);
        }
      }
      BulkBuffers.putOffset(offsets, wide, values.length, at);
      data.flip();
      SourceSpans spans = new SourceSpans(offsets, wide, base, data, 1);
      compare(
          type,
          rows,
          (column, part) -> column.putSpans(part, spans),
          (column, i) -> {
            byte[] value = values[rows.from + i];
            if (type == QwpType.BINARY) {
              column.putBytes(value, 0, value.length);
            } else {
              column.putUtf8(value, 0, value.length);
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void symbolsByIndex(int width) {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(round % 2 == 0);
      int entries = 1 + random.nextInt(width == 1 ? 127 : 300);
      String[] texts = new String[entries];
      ByteBuffer offsets = ByteBuffer.allocateDirect((entries + 1) * 4);
      offsets.order(ByteOrder.LITTLE_ENDIAN);
      ByteBuffer data = ByteBuffer.allocateDirect(entries * 8);
      for (int i = 0; i < entries; i++) {
        texts[i] = "s" + random.nextInt(200); // an entry may be there twice
        offsets.putInt(i * 4, data.position());
        data.put(texts[i].getBytes(StandardCharsets.UTF_8));
      }
      offsets.putInt(entries * 4, data.position());
      data.flip();
      ByteBuffer indexes = rows.buffer(width); // what lies under a null is noise
      int[] index = new int[rows.count];
      for (int i = 0; i < rows.count; i++) {
        if (!rows.isNull[i]) {
          index[i] = random.nextInt(entries);
          int at = (rows.from + i) * width;
          switch (width) {
            case 1 -> indexes.put(at, (byte) index[i]);
            case 2 -> indexes.putShort(at, (short) index[i]);
            case 4 -> indexes.putInt(at, index[i]);
            default -> indexes.putLong(at, index[i]);
          }
        }
      }
      SourceSymbols symbols =
          new SourceSymbols(
              indexes,
              width,
              new SourceSpans(offsets, false, 0, data, 1),
              new SourceRows(null, 0, entries, 0));
      compare(
          QwpType.SYMBOL,
          rows,
          (column, part) -> column.putSymbols(part, symbols),
          (column, i) -> column.putText(texts[index[i]]));
    }
  }

  @Test
  void uuids() {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(round % 2 == 0);
      ByteBuffer values = rows.buffer(16);
      ByteBuffer big = values.duplicate().order(ByteOrder.BIG_ENDIAN);
      compare(
          QwpType.UUID,
          rows,
          (column, part) -> column.putUuids(part, values),
          (column, i) ->
              column.putUuid(
                  big.getLong((rows.from + i) * 16), big.getLong((rows.from + i) * 16 + 8)));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QwpType.class,
      names = {"DECIMAL64", "DECIMAL128", "DECIMAL256"})
  void decimals(QwpType type) {
    int digits = type == QwpType.DECIMAL64 ? 18 : type == QwpType.DECIMAL128 ? 38 : 76;
    for (int width : new int[] {4, 8, 16, 32}) {
      int most = Math.min(digits, width == 4 ? 9 : width == 8 ? 18 : width == 16 ? 38 : 76);
      for (int round = 0; round < ROUNDS; round++) {
        Rows rows = new Rows(round % 2 == 0);
        ByteBuffer numbers = rows.buffer(width);
        int scale = random.nextInt(most + 1);
        BigInteger[] values = new BigInteger[rows.count];
        for (int i = 0; i < rows.count; i++) {
          BigInteger bound = BigInteger.TEN.pow(i % 3 == 0 ? most : 1 + random.nextInt(most));
          // Often the very edge.
          values[i] =
              i % 5 == 0
                  ? bound.subtract(BigInteger.ONE)
                  : new BigInteger(bound.bitLength() - 1, random).mod(bound);
          values[i] = random.nextBoolean() ? values[i].negate() : values[i];
          if (!rows.isNull[i]) {
            BulkBuffers.putNumber(numbers, (rows.from + i) * width, width, values[i]);
          }
        }
        compare(
            type,
            rows,
            (column, part) -> column.putDecimals(part, numbers, width, scale),
            (column, i) -> column.putDecimal(new BigDecimal(values[i], scale)));
      }
    }
  }

  @Test
  void arrays() {
    for (int round = 0; round < ROUNDS; round++) {
      Rows rows = new Rows(round % 2 == 0);
      int total = rows.from + rows.count;
      ByteBuffer offsets = ByteBuffer.allocateDirect((total + 1) * 4);
      offsets.order(ByteOrder.LITTLE_ENDIAN);
      int elements = 0;
      for (int i = 0; i < total; i++) {
        offsets.putInt(i * 4, elements + 3);
        elements += random.nextInt(4);
      }
      offsets.putInt(total * 4, elements + 3);
      ByteBuffer data = ByteBuffer.allocateDirect(elements * 8).order(ByteOrder.LITTLE_ENDIAN);
      data.asDoubleBuffer().put(random.doubles(elements).toArray());
      SourceSpans spans = new SourceSpans(offsets, false, 3, data, 8);
      SourceRows all = new SourceRows(null, 0, elements, 0);
      compare(
          QwpType.DOUBLE_ARRAY,
          rows,
          (column, part) -> column.putDoubleArrays(part, spans, all),
          (column, i) -> {
            int begin = offsets.getInt((rows.from + i) * 4) - 3;
            double[] flat = new double[offsets.getInt((rows.from + i) * 4 + 4) - 3 - begin];
            Arrays.setAll(flat, k -> data.getDouble((begin + k) * 8));
            column.putDoubleArray(flat, new int[] {flat.length});
          });
    }
  }
}
