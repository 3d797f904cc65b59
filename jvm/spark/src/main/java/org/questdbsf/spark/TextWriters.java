package org.questdbsf.spark;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpType;

/**
 * Writes Spark's strings from the bytes they are kept in, without making a {@code String}: as text,
 * or parsed strictly as CHAR, UUID, IPV4, LONG256 or GEOHASH.
 */
final class TextWriters {
  private TextWriters() {}

  /** Takes the bytes of a text. */
  @FunctionalInterface
  private interface BytesTaker {
    void take(byte[] bytes, int off, int len, ColumnBuffer out);
  }

  static FieldWriter of(TargetType target, boolean sentinelIsNull) {
    QwpType type = target.type();
    return new Utf8Writer(
        switch (type) {
          case VARCHAR, SYMBOL -> (bytes, off, len, out) -> out.putUtf8(bytes, off, len);
          case CHAR ->
              (bytes, off, len, out) -> {
                int unit = ParsedText.charOf(bytes, off, len);
                if (unit != 0) {
                  out.putLong(unit);
                } else if (!sentinelIsNull) {
                  throw FieldWriters.sentinel("U+0000", "CHAR");
                }
              };
          case UUID ->
              (bytes, off, len, out) ->
                  out.putUuid(
                      ParsedText.uuidHigh(bytes, off, len), ParsedText.uuidLow(bytes, off, len));
          case IPV4 ->
              (bytes, off, len, out) -> {
                long address = ParsedText.ipv4(bytes, off, len);
                if (address != 0) {
                  out.putLong(address);
                } else if (!sentinelIsNull) {
                  throw FieldWriters.sentinel("0.0.0.0", "IPV4");
                }
              };
          case LONG256 ->
              (bytes, off, len, out) -> {
                long[] limbs = ParsedText.long256(bytes, off, len);
                out.putLong256(limbs[0], limbs[1], limbs[2], limbs[3]);
              };
          case GEOHASH ->
              (bytes, off, len, out) ->
                  out.putGeohash(
                      ParsedText.geohash(bytes, off, len, target.precision()), target.precision());
          default -> throw new IllegalStateException("no text becomes " + type);
        });
  }

  /** Finds the bytes of a {@link UTF8String}, copying only those that are off the heap. */
  private static final class Utf8Writer implements FieldWriter {
    private final BytesTaker taker;
    private byte[] scratch = new byte[0];

    Utf8Writer(BytesTaker taker) {
      this.taker = taker;
    }

    @Override
    public void write(SpecializedGetters row, int ordinal, ColumnBuffer out) {
      UTF8String text = row.getUTF8String(ordinal);
      int length = text.numBytes();
      if (text.getBaseObject() instanceof byte[] bytes) {
        taker.take(bytes, (int) (text.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET), length, out);
        return;
      }
      if (scratch.length < length) {
        scratch = new byte[Math.max(length, 2 * scratch.length)];
      }
      text.writeToMemory(scratch, Platform.BYTE_ARRAY_OFFSET);
      taker.take(scratch, 0, length, out);
    }
  }
}
