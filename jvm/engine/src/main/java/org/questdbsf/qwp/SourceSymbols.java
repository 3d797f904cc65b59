package org.questdbsf.qwp;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * Symbols in columnar memory that is not ours, as Arrow's dictionary layout has them: an index a
 * row, and the texts. A text gets an id when the first row uses it, and another one when the rows
 * go on with another dictionary.
 */
public final class SourceSymbols {
  private static final int UNKNOWN = -1;

  private final ByteBuffer indexes;
  private final int width;
  private final SourceSpans texts;
  private final SourceRows entries;
  private final int[] ids;
  private SymbolDictionary known;

  /**
   * @param indexes one a row, of 1, 2, 4 or 8 bytes
   * @param width bytes of an index
   * @param texts the dictionary
   * @param entries the dictionary's rows; none of them null
   */
  public SourceSymbols(ByteBuffer indexes, int width, SourceSpans texts, SourceRows entries) {
    if (entries.firstNull() >= 0) {
      throw new IllegalArgumentException("a dictionary with a null entry");
    }
    this.indexes = SourceRows.littleEndian(indexes);
    this.width = width;
    this.texts = Objects.requireNonNull(texts);
    this.entries = entries;
    this.ids = new int[entries.rows()];
    Arrays.fill(ids, UNKNOWN);
  }

  /** The id of the text at an index of the source. */
  int id(int at, SymbolDictionary dictionary, ColumnPlace place) {
    long index =
        switch (width) {
          case 1 -> indexes.get(at) & 0xFF;
          case 2 -> indexes.getShort(at << 1) & 0xFFFF;
          case 4 -> indexes.getInt(at << 2);
          default -> indexes.getLong(at << 3);
        };
    if (index < 0 || index >= ids.length) {
      throw place.invalid("index " + index + " of a dictionary of " + ids.length + " entries");
    }
    if (dictionary != known) {
      Arrays.fill(ids, UNKNOWN);
      known = dictionary;
    }
    int id = ids[(int) index];
    return id == UNKNOWN ? look((int) index, dictionary, place) : id;
  }

  private int look(int index, SymbolDictionary dictionary, ColumnPlace place) {
    int[] starts = texts.starts(entries.part(index, 1), place);
    int length = starts[1] - starts[0];
    int id = dictionary.idOf(texts.bytes(starts[0], starts[1]), 0, length, place);
    ids[index] = id;
    return id;
  }
}
