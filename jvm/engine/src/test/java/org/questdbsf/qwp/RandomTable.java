package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntConsumer;
import java.util.stream.DoubleStream;

/** A block filled at random, and what must come out of it, row by row as {@link Rendered#cell}. */
final class RandomTable {
  /** A column and the properties that all its values share. */
  private record Spec(String name, QwpType type, int precision, int scale, int dimensions) {}

  private static final QwpType[] TYPES =
      EnumSet.complementOf(EnumSet.of(QwpType.LONG_ARRAY)).toArray(QwpType[]::new);

  final TableBlock block;
  final List<Map<String, Object>> rows = new ArrayList<>();
  private final Random random;
  private final Map<String, Spec> specs = new LinkedHashMap<>();
  private final Map<String, Integer> decimals = new HashMap<>();
  private final double nulls;

  /** Told of each row, by its place, before it ends. */
  IntConsumer onEnd = row -> {};

  RandomTable(String name, SymbolDictionary dictionary, Random random) {
    this.block = new TableBlock(name, dictionary, QwpLimits.MAX_NAME_BYTES);
    this.random = random;
    this.nulls = random.nextInt(3) * 0.4;
    int columns = 1 + random.nextInt(8);
    for (int i = 0; i < columns; i++) {
      addColumn();
    }
    if (random.nextBoolean()) {
      QwpType type = random.nextBoolean() ? QwpType.TIMESTAMP : QwpType.TIMESTAMP_NANOS;
      specs.put("", new Spec("", type, 0, 0, 0));
    }
  }

  private void addColumn() {
    QwpType type = TYPES[random.nextInt(TYPES.length)];
    String name = "c" + specs.size() + (random.nextBoolean() ? "é" : "");
    int digits = type == QwpType.DECIMAL64 ? 18 : type == QwpType.DECIMAL128 ? 38 : 76;
    specs.put(
        name,
        new Spec(
            name, type, 1 + random.nextInt(60), random.nextInt(digits + 1), 1 + random.nextInt(3)));
  }

  /** Adds rows; some are begun and cancelled, some bring a new column, some set a value twice. */
  void fill(int count) {
    for (int i = 0; i < count; ) {
      if (random.nextInt(50) == 0) {
        addColumn();
      }
      Map<String, Object> row = new HashMap<>();
      for (Spec spec : specs.values()) {
        ColumnBuffer column = column(spec);
        if (random.nextDouble() < nulls) {
          if (random.nextBoolean()) {
            column.putNull();
          }
        } else {
          row.put(spec.name(), put(column, spec));
          if (random.nextInt(20) == 0) {
            put(column, spec);
          }
        }
      }
      if (random.nextInt(10) == 0) {
        block.cancelRow();
      } else {
        onEnd.accept(block.rows());
        block.endRow();
        rows.add(row);
        for (String name : row.keySet()) {
          decimals.merge(name, 1, Integer::sum);
        }
        i++;
      }
    }
  }

  void clear() {
    block.clear();
    rows.clear();
    decimals.clear();
  }

  /** What a decoded row must hold for a column: null where the row has no value. */
  Object expected(int row, String name) {
    return rows.get(row).get(name);
  }

  Iterable<String> names() {
    return specs.keySet();
  }

  QwpType type(String name) {
    return specs.get(name).type();
  }

  private ColumnBuffer column(Spec spec) {
    if (spec.name().isEmpty()) {
      return block.designated(spec.type());
    }
    return block.column(
        random.nextInt(5) == 0 ? spec.name().toUpperCase(java.util.Locale.ROOT) : spec.name(),
        spec.type());
  }

  /** Puts a random value and returns it as it must come out. */
  private Object put(ColumnBuffer column, Spec spec) {
    return switch (spec.type()) {
      case BOOLEAN -> {
        boolean value = random.nextBoolean();
        column.putBoolean(value);
        yield value;
      }
      case BYTE -> integer(column, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case SHORT -> integer(column, Short.MIN_VALUE, Short.MAX_VALUE);
      case CHAR -> integer(column, 1, 0xD7FF);
      case INT -> integer(column, Integer.MIN_VALUE + 1L, Integer.MAX_VALUE);
      case LONG, TIMESTAMP, TIMESTAMP_NANOS, DATE ->
          spec.name().isEmpty()
              ? integer(column, 0, IntegerRange.designated(spec.type()).max())
              : integer(column, Long.MIN_VALUE + 1, Long.MAX_VALUE);
      case IPV4 -> Rendered.ipv4(integer(column, 1, 0xFFFF_FFFFL));
      case FLOAT -> {
        float value = Float.intBitsToFloat(random.nextInt());
        value = Float.isInfinite(value) ? Float.MAX_VALUE : value;
        column.putFloat(value);
        yield Float.isNaN(value) ? null : (Object) (double) value;
      }
      case DOUBLE -> {
        double value = Double.longBitsToDouble(random.nextLong());
        value = Double.isInfinite(value) ? Double.MIN_VALUE : value;
        column.putDouble(value);
        yield Double.isNaN(value) ? null : (Object) value;
      }
      case SYMBOL -> {
        String text = random.nextInt(4) == 0 ? text() : "s" + random.nextInt(300);
        putText(column, text);
        yield text;
      }
      case VARCHAR -> {
        String text = text();
        putText(column, text);
        yield text;
      }
      case BINARY -> {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        column.putBytes(bytes, 0, bytes.length);
        yield "hex:" + HexFormat.of().formatHex(bytes);
      }
      case UUID -> {
        UUID uuid = new UUID(random.nextLong(), random.nextLong());
        column.putUuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
        yield uuid.toString();
      }
      case LONG256 -> {
        BigInteger value = new BigInteger(random.nextInt(257), random);
        column.putLong256(
            value.longValue(),
            value.shiftRight(64).longValue(),
            value.shiftRight(128).longValue(),
            value.shiftRight(192).longValue());
        yield "0x" + value.toString(16);
      }
      case GEOHASH -> {
        // All ones often: in whole bytes that is what a null looks like without a bitmap.
        long ones = -1L >>> 64 - spec.precision();
        long bits = random.nextInt(4) == 0 ? ones : random.nextLong() & ones;
        column.putGeohash(bits, spec.precision());
        yield Rendered.geohash(bits, spec.precision());
      }
      case DECIMAL64, DECIMAL128, DECIMAL256 -> decimal(column, spec);
      case DOUBLE_ARRAY -> {
        int[] shape = shape(spec);
        double[] flat = DoubleStream.generate(random::nextGaussian).limit(size(shape)).toArray();
        column.putDoubleArray(flat, shape);
        yield Rendered.array(shape, DoubleStream.of(flat).mapToObj(d -> (Object) d).toList());
      }
      case LONG_ARRAY -> throw new IllegalStateException("is not written");
    };
  }

  private long integer(ColumnBuffer column, long min, long max) {
    long value =
        switch (random.nextInt(10)) {
          case 0 -> min;
          case 1 -> max;
          default -> max == Long.MAX_VALUE ? random.nextLong() | 1 : random.nextLong(min, max + 1);
        };
    column.putLong(value);
    return value;
  }

  private void putText(ColumnBuffer column, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    switch (random.nextInt(4)) {
      case 0 -> column.putUtf8(utf8, 0, utf8.length);
      case 1 -> column.putUtf8(ByteBuffer.wrap(utf8));
      case 2 -> column.putUtf8(ByteBuffer.allocateDirect(utf8.length).put(utf8).flip());
      default -> column.putText(random.nextBoolean() ? text : new StringBuilder(text));
    }
  }

  private String text() {
    int[] bounds = {0x80, 0x800, 0xD800, 0x110000};
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(12);
    for (int i = 0; i < length; i++) {
      int point = random.nextInt(bounds[random.nextInt(bounds.length)]);
      text.appendCodePoint(point >= 0xD800 && point < 0xE000 ? 'x' : point);
    }
    return text.toString();
  }

  /** The first of a batch fixes the scale, so it has the column's; later ones may have less. */
  private String decimal(ColumnBuffer column, Spec spec) {
    int digits =
        spec.type() == QwpType.DECIMAL64 ? 18 : spec.type() == QwpType.DECIMAL128 ? 38 : 76;
    BigInteger bound = BigInteger.TEN.pow(1 + random.nextInt(digits));
    BigInteger unscaled = new BigInteger(bound.bitLength() + 8, random).mod(bound);
    BigDecimal value =
        new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), spec.scale());
    boolean fixed = decimals.getOrDefault(spec.name(), 0) > 0;
    BigDecimal given = fixed && random.nextBoolean() ? value.stripTrailingZeros() : value;
    if (given.unscaledValue().bitLength() < 64 && random.nextBoolean()) {
      column.putDecimal(given.unscaledValue().longValue(), given.scale());
    } else {
      column.putDecimal(given);
    }
    return value.toPlainString();
  }

  private int[] shape(Spec spec) {
    return random.ints(spec.dimensions(), 0, 4).toArray();
  }

  private static int size(int[] shape) {
    int product = 1;
    for (int length : shape) {
      product *= length;
    }
    return product;
  }
}
