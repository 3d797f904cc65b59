package org.questdbsf.qwp;

import java.nio.ByteBuffer;

/** Booleans: a byte a slot here, a bit a value on the wire. A null row is false. */
final class BooleanStore extends FixedStore {
  // Moves the lowest bits of eight bytes into the highest byte, first byte in the lowest bit.
  private static final long GATHER = 0x0102040810204080L;

  BooleanStore() {
    super(1, true);
  }

  /** Fills slots from bits, first slot in the lowest bit. */
  void putBits(int slot, ByteBuffer bits, int from, int slots) {
    roomFor(slot + (long) slots);
    for (int i = 0; i < slots; i++) {
      data[slot + i] = (byte) (bits.get((from + i) >> 3) >>> (from + i & 7) & 1);
    }
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int values) {
    return (values + 7L) >> 3;
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int values) {
    int at = out.claim((values + 7L) >> 3);
    byte[] target = out.array();
    int slot = from;
    for (; to - slot >= 8; slot += 8) {
      target[at++] = (byte) (LittleEndian.getLong(data, slot) * GATHER >>> 56);
    }
    if (slot < to) {
      int bits = 0;
      for (int i = slot; i < to; i++) {
        bits |= data[i] << (i - slot);
      }
      target[at] = (byte) bits;
    }
  }
}
