package org.questdbsf.qwp;

/** Strict decoder. */
public final class MessageDecoder {
  public MessageDecoder(ConnectionSymbols symbols) {
    throw new UnsupportedOperationException("in preparation");
  }

  public QwpMessage decode(byte[] b, int off, int len) throws MalformedMessageException {
    throw new UnsupportedOperationException("in preparation");
  }

  /**
   * Only the header and the delta section: what a reader of frames needs to rebuild a dictionary.
   */
  public static SymbolDelta decodeDelta(byte[] b, int off, int len)
      throws MalformedMessageException {
    throw new UnsupportedOperationException("in preparation");
  }
}
