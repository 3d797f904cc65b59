package org.questdbsf.qwp;

/** Ids of symbol texts. */
public final class SymbolDictionary {
  public int idOf(byte[] utf8, int off, int len) {
    throw new UnsupportedOperationException("in preparation");
  }

  public int idOf(CharSequence text) {
    throw new UnsupportedOperationException("in preparation");
  }

  public int size() {
    throw new UnsupportedOperationException("in preparation");
  }

  public byte[] utf8(int id) {
    throw new UnsupportedOperationException("in preparation");
  }

  public long encodedBytes(int fromId, int toId) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void rollbackTo(int size) {
    throw new UnsupportedOperationException("in preparation");
  }
}
