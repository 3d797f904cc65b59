package org.questdbsf.qwp;

import java.util.function.IntUnaryOperator;

/** Ids of symbols: four bytes a slot here, a varint a value on the wire. */
final class SymbolStore extends FixedStore {
  private long bytes;
  private int highest = -1;
  private int highestBefore = -1;

  SymbolStore() {
    super(4, false);
  }

  void put(int slot, int id) {
    putInteger(slot, id);
    bytes += size(id);
    highestBefore = highest;
    highest = Math.max(highest, id);
  }

  /**
   * Fills slots with the ids of many rows; none of them can be taken back by itself.
   *
   * @param ids gives the id of a row that is not null
   */
  void put(int slot, SourceRows source, IntUnaryOperator ids, ColumnPlace place) {
    roomFor(slot + (long) source.rows());
    long sum = bytes;
    int most = highest;
    for (int row = 0; row < source.rows(); row += 64) {
      int end = Math.min(row + 64, source.rows());
      long nulls = source.nulls(row);
      for (int i = row; i < end; i++, nulls >>>= 1) {
        if ((nulls & 1) == 0) {
          place.atSourceRow(source.number(i));
          int id = ids.applyAsInt(i);
          LittleEndian.putInt(data, slot + i << 2, id);
          sum += size(id);
          most = Math.max(most, id);
        }
      }
    }
    bytes = sum;
    highest = most;
    highestBefore = most;
  }

  /** The first two lengths without a branch: ids around 128 would make it a coin's toss. */
  private static int size(int id) {
    return id < 0x4000 ? 1 + (0x7F - id >>> 31) : Varint.size(id);
  }

  /** The highest id of all slots, or of all but the last value; -1 where there is none. */
  int highest(boolean withLast) {
    return withLast ? highest : highestBefore;
  }

  int highest(NullMap nulls, int from, int to) {
    int found = -1;
    for (int slot = nulls.next(false, from, to); slot < to; ) {
      int end = nulls.next(true, slot, to);
      for (; slot < end; slot++) {
        found = Math.max(found, id(slot));
      }
      slot = nulls.next(false, end, to);
    }
    return found;
  }

  /** Varint bytes of all slots. */
  long bytes() {
    return bytes;
  }

  /** The id in a slot that is not null. */
  int id(int slot) {
    return LittleEndian.getInt(data, slot << 2);
  }

  @Override
  void drop(int slot) {
    bytes -= size(id(slot));
    highest = highestBefore;
  }

  @Override
  void clear() {
    bytes = 0;
    highest = -1;
    highestBefore = -1;
  }

  @Override
  long bytes(NullMap nulls, int from, int to, int values) {
    long sum = 0;
    for (int slot = nulls.next(false, from, to); slot < to; ) {
      int end = nulls.next(true, slot, to);
      for (; slot < end; slot++) {
        sum += size(id(slot));
      }
      slot = nulls.next(false, end, to);
    }
    return sum;
  }

  @Override
  void write(WireBuffer out, NullMap nulls, int from, int to, int values) {
    // Ids are below 2^31: five bytes at most. What was claimed too much is given back at the end.
    int begin = out.claim(5L * values);
    byte[] target = out.array();
    int at = begin;
    for (int slot = nulls.next(false, from, to); slot < to; ) {
      int end = nulls.next(true, slot, to);
      for (; slot < end; slot++) {
        int id = id(slot);
        if (id < 0x4000) {
          int more = 0x7F - id >>> 31;
          target[at] = (byte) (id & 0x7F | more << 7);
          target[at + 1] = (byte) (id >> 7);
          at += 1 + more;
        } else {
          at = Varint.put(target, at, id);
        }
      }
      slot = nulls.next(false, end, to);
    }
    out.cut(at);
  }
}
