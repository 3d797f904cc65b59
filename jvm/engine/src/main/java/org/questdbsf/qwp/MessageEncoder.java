package org.questdbsf.qwp;

import java.util.List;

/** Table blocks to messages. */
public final class MessageEncoder {
  public void encode(
      TableBlock b, int fromRow, int toRow, SymbolDictionary d, int deltaStart, int deltaEnd) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void encode(List<TableBlock> blocks, SymbolDictionary d, int deltaStart, int deltaEnd) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void encodeDictionary(SymbolDictionary d, int fromId, int toId) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** Bytes of a message before its table blocks: header and delta section. */
  public static long overheadBytes(SymbolDictionary d, int deltaStart, int deltaEnd) {
    throw new UnsupportedOperationException("in preparation");
  }

  public byte[] array() {
    throw new UnsupportedOperationException("in preparation");
  }

  public int length() {
    throw new UnsupportedOperationException("in preparation");
  }
}
