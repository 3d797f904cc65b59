package org.questdbsf.qwp;

import java.util.List;
import java.util.Objects;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Table blocks to messages with flags 0x08: a delta section, never Gorilla, never deferred (client
 * spec, sections on the header and the payload). The caller says which ids the delta section
 * carries: it must reach {@link TableBlock#symbolLimit()}, or whoever gets the message must know
 * the ids below {@code deltaStart} already.
 *
 * <p>Reusable and growing; used by one thread at a time. A message is valid until the next call.
 */
public final class MessageEncoder {
  private final WireBuffer out;

  /** An encoder with little room at first. */
  public MessageEncoder() {
    out = new WireBuffer();
  }

  /**
   * An encoder with room for the messages to come.
   *
   * @param initialBytes size of a message up to which it need not grow
   */
  public MessageEncoder(int initialBytes) {
    out = new WireBuffer(initialBytes);
  }

  /**
   * Encodes the rows [fromRow, toRow) of one block.
   *
   * @throws SfException LIMIT_EXCEEDED beyond {@link QwpLimits#MAX_FRAME_ROWS}; the message is then
   *     void
   */
  public void encode(
      TableBlock block,
      int fromRow,
      int toRow,
      SymbolDictionary dictionary,
      int deltaStart,
      int deltaEnd) {
    begin(dictionary, deltaStart, deltaEnd);
    block.write(out, fromRow, toRow);
    end(1);
  }

  /**
   * Encodes all rows of several blocks; those without rows are left out.
   *
   * @throws SfException LIMIT_EXCEEDED beyond {@link QwpLimits#MAX_FRAME_ROWS} or {@link
   *     QwpLimits#MAX_TABLES}; the message is then void
   */
  public void encode(
      List<TableBlock> blocks, SymbolDictionary dictionary, int deltaStart, int deltaEnd) {
    begin(dictionary, deltaStart, deltaEnd);
    int tables = 0;
    for (int i = 0; i < blocks.size(); i++) {
      TableBlock block = blocks.get(i);
      if (block.rows() > 0) {
        block.write(out, 0, block.rows());
        tables++;
      }
    }
    end(tables);
  }

  /** Encodes a message without tables: the ids [fromId, toId) for a connection that lost them. */
  public void encodeDictionary(SymbolDictionary dictionary, int fromId, int toId) {
    begin(dictionary, fromId, toId);
    end(0);
  }

  /** Bytes of a message before its first table block: the header and the delta section. */
  public static long overheadBytes(SymbolDictionary dictionary, int deltaStart, int deltaEnd) {
    return MessageHeader.SIZE
        + Varint.size(deltaStart)
        + Varint.size(deltaEnd - deltaStart)
        + dictionary.encodedBytes(deltaStart, deltaEnd);
  }

  /** The array that holds the message from index 0 on. */
  public byte[] array() {
    return out.array();
  }

  /** Bytes of the message. */
  public int length() {
    return out.length();
  }

  private void begin(SymbolDictionary dictionary, int deltaStart, int deltaEnd) {
    Objects.checkFromToIndex(deltaStart, deltaEnd, Integer.MAX_VALUE);
    out.clear();
    out.claim(MessageHeader.SIZE);
    dictionary.writeDelta(out, deltaStart, deltaEnd);
  }

  private void end(int tables) {
    if (tables > QwpLimits.MAX_TABLES) {
      throw new SfException(
          ErrorCode.LIMIT_EXCEEDED,
          tables + " tables in one message; at most " + QwpLimits.MAX_TABLES);
    }
    byte[] header = out.array();
    LittleEndian.putInt(header, 0, MessageHeader.MAGIC);
    header[4] = MessageHeader.VERSION;
    header[5] = MessageHeader.FLAG_DELTA_SYMBOL_DICT;
    LittleEndian.putShort(header, 6, (short) tables);
    LittleEndian.putInt(header, 8, out.length() - MessageHeader.SIZE);
  }
}
