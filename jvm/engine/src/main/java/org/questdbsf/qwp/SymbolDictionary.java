package org.questdbsf.qwp;

import java.util.Arrays;
import java.util.Objects;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Texts of symbols and their ids, dense from 0 (client spec, section on symbols). The texts lie one
 * after the other as a delta section has them, so that a range of ids is written by one copy.
 *
 * <p>Written by the producer thread only. Another thread may read ids below a size that it learned
 * through a release and acquire after the producer saw that size: {@link #utf8}, {@link
 * #encodedBytes} and what {@link MessageEncoder} does with such ranges.
 */
public final class SymbolDictionary {
  /** Grown copies replace the whole pair, so that a reader never sees one without the other. */
  private static final class Texts {
    final byte[] encoded;
    final int[] starts;

    Texts(byte[] encoded, int[] starts) {
      this.encoded = encoded;
      this.starts = starts;
    }
  }

  private final int maxSymbols;
  private volatile Texts texts = new Texts(new byte[4096], new int[257]);
  private int size;
  private int[] hashes = new int[256];

  /** Ids and one by hash. Sparse while symbols are few: each collision is a branch mispredicted. */
  private int[] slots = new int[4096];

  private byte[] scratch = new byte[256];

  /** A dictionary that takes {@link QwpLimits#MAX_SYMBOLS} entries. */
  public SymbolDictionary() {
    this(QwpLimits.MAX_SYMBOLS);
  }

  /** A dictionary that refuses, with SYMBOLS_EXHAUSTED, more than so many entries. */
  public SymbolDictionary(int maxSymbols) {
    this.maxSymbols = maxSymbols;
  }

  /**
   * The id of a text, the next free one where it is new.
   *
   * @throws SfException VALUE_INVALID where the bytes are not UTF-8 or more than {@link
   *     QwpLimits#MAX_SYMBOL_BYTES}, SYMBOLS_EXHAUSTED where the dictionary is full
   */
  public int idOf(byte[] utf8, int off, int len) {
    Objects.checkFromIndexSize(off, len, utf8.length);
    return idOf(utf8, off, len, null);
  }

  /** As {@link #idOf(byte[], int, int)}; half of a surrogate pair is refused. */
  public int idOf(CharSequence text) {
    return idOf(text, null);
  }

  int idOf(CharSequence text, ColumnPlace place) {
    long most = Utf8.maxBytes(text);
    if (most > scratch.length) {
      if (text.length() > QwpLimits.MAX_SYMBOL_BYTES) {
        throw tooLong(text.length(), place);
      }
      scratch = new byte[(int) Math.max(most, scratch.length * 2L)];
    }
    int len = Utf8.encode(text, scratch, 0);
    if (len < 0) {
      throw refused(
          ErrorCode.VALUE_INVALID,
          "the symbol has half of a surrogate pair at character " + (-1 - len),
          place);
    }
    return idOf(scratch, 0, len, place);
  }

  int idOf(byte[] utf8, int off, int len, ColumnPlace place) {
    int hash = hash(utf8, off, len);
    int mask = slots.length - 1;
    Texts known = texts;
    int slot = hash & mask;
    for (int id; (id = slots[slot] - 1) >= 0; slot = slot + 1 & mask) {
      if (hashes[id] == hash) {
        int end = known.starts[id + 1];
        if (end - known.starts[id] == Varint.size(len) + len
            && equal(known.encoded, end - len, utf8, off, len)) {
          return id;
        }
      }
    }
    add(utf8, off, len, hash, place);
    return size - 1;
  }

  private void add(byte[] utf8, int off, int len, int hash, ColumnPlace place) {
    if (len > QwpLimits.MAX_SYMBOL_BYTES) {
      throw tooLong(len, place);
    }
    int bad = Utf8.invalidAt(utf8, off, len);
    if (bad != Utf8.VALID) {
      throw refused(
          ErrorCode.VALUE_INVALID, "the symbol is not UTF-8 at byte " + (bad - off), place);
    }
    int start = texts.starts[size];
    int bytes = Varint.size(len) + len;
    if (size >= maxSymbols || start + bytes > QwpLimits.MAX_DICTIONARY_BYTES) {
      throw refused(
          ErrorCode.SYMBOLS_EXHAUSTED,
          "the symbol dictionary is full with "
              + size
              + " texts of "
              + start
              + " bytes; use VARCHAR for columns of many distinct texts",
          place);
    }
    grow(start + bytes);
    Texts target = texts;
    System.arraycopy(utf8, off, target.encoded, Varint.put(target.encoded, start, len), len);
    target.starts[size + 1] = start + bytes;
    hashes[size] = hash;
    size++;
    insert(size - 1);
  }

  /** Makes room for one more text that ends here. */
  private void grow(int end) {
    Texts old = texts;
    if (end > old.encoded.length || size + 1 == old.starts.length) {
      byte[] encoded = old.encoded;
      int[] starts = old.starts;
      if (end > encoded.length) {
        encoded = Arrays.copyOf(encoded, Math.max(end, encoded.length * 2));
      }
      if (size + 1 == starts.length) {
        starts = Arrays.copyOf(starts, starts.length * 2);
      }
      texts = new Texts(encoded, starts);
    }
    if (size == hashes.length) {
      hashes = Arrays.copyOf(hashes, size * 2);
    }
    if ((size + 1) * 2 > slots.length) {
      slots = new int[slots.length * 2];
      for (int id = 0; id < size; id++) {
        insert(id);
      }
    }
  }

  private void insert(int id) {
    int mask = slots.length - 1;
    int slot = hashes[id] & mask;
    while (slots[slot] != 0) {
      slot = slot + 1 & mask;
    }
    slots[slot] = id + 1;
  }

  /** Ids given so far. For the producer thread. */
  public int size() {
    return size;
  }

  /** A copy of the text of an id. */
  public byte[] utf8(int id) {
    Texts known = texts;
    int at = known.starts[id];
    while (known.encoded[at++] < 0) {
      // The length before the text is skipped: it is known from the next start.
    }
    return Arrays.copyOfRange(known.encoded, at, known.starts[id + 1]);
  }

  /** The id that the text of another dictionary's id has here. Producer's thread only. */
  int idOf(SymbolDictionary other, int otherId) {
    Texts theirs = other.texts;
    int at = theirs.starts[otherId];
    while (theirs.encoded[at++] < 0) {
      // As in utf8().
    }
    return idOf(theirs.encoded, at, theirs.starts[otherId + 1] - at, null);
  }

  /** Bytes of the ids [fromId, toId) in a delta section, without its two counts. */
  public long encodedBytes(int fromId, int toId) {
    int[] starts = texts.starts;
    return starts[toId] - starts[fromId];
  }

  /**
   * Forgets the ids from {@code newSize} on, as if they had never been given. Only for ids that are
   * in no message: those of a cancelled row.
   */
  public void rollbackTo(int newSize) {
    Objects.checkIndex(newSize, size + 1);
    // Newest first: taking entries out in reverse order leaves every probe chain as it was.
    while (size > newSize) {
      size--;
      int mask = slots.length - 1;
      int slot = hashes[size] & mask;
      while (slots[slot] != size + 1) {
        slot = slot + 1 & mask;
      }
      slots[slot] = 0;
    }
  }

  /** Writes a delta section: first id, count, texts. */
  void writeDelta(WireBuffer out, int fromId, int toId) {
    Texts known = texts;
    out.putVarint(fromId);
    out.putVarint(toId - fromId);
    int start = known.starts[fromId];
    out.putBytes(known.encoded, start, known.starts[toId] - start);
  }

  /** Short texts without a loop, whose end could not be foreseen: some bytes are read twice. */
  private static int hash(byte[] b, int off, int len) {
    long h = len * 0x9E3779B97F4A7C15L;
    int end = off + len;
    if (len >= 8) {
      h = mix(h ^ LittleEndian.getLong(b, off));
      for (int at = off + 8; end - at > 8; at += 8) {
        h = mix(h ^ LittleEndian.getLong(b, at));
      }
      h = mix(h ^ LittleEndian.getLong(b, end - 8));
    } else if (len >= 4) {
      long rest = LittleEndian.getInt(b, off);
      h = mix(h ^ rest << 32 ^ LittleEndian.getInt(b, end - 4) & 0xFFFF_FFFFL);
    } else if (len > 0) {
      h = mix(h ^ (b[off] & 0xFF) << 16 ^ (b[off + (len >> 1)] & 0xFF) << 8 ^ b[end - 1] & 0xFF);
    }
    // What differs in the last bytes of a text is in the high bits; the lowest choose the slot.
    return (int) (h * 0x9E3779B97F4A7C15L >>> 32);
  }

  private static boolean equal(byte[] a, int from, byte[] b, int off, int len) {
    if (len < 8 || len > 16) {
      return Arrays.equals(a, from, from + len, b, off, off + len);
    }
    long differing = LittleEndian.getLong(a, from) ^ LittleEndian.getLong(b, off);
    int last = len - 8;
    differing |= LittleEndian.getLong(a, from + last) ^ LittleEndian.getLong(b, off + last);
    return differing == 0;
  }

  private static long mix(long h) {
    long m = h * 0xD6E8FEB86659FD93L;
    return m ^ m >>> 32;
  }

  private static SfException tooLong(int bytes, ColumnPlace place) {
    return refused(
        ErrorCode.VALUE_INVALID,
        "a symbol of "
            + bytes
            + " bytes; at most "
            + QwpLimits.MAX_SYMBOL_BYTES
            + ", use VARCHAR for long texts",
        place);
  }

  private static SfException refused(ErrorCode code, String fault, ColumnPlace place) {
    return place == null ? new SfException(code, fault) : place.error(code, fault);
  }
}
