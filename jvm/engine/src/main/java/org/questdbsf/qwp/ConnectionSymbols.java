package org.questdbsf.qwp;

/** The server's view of a connection's dictionary. */
public final class ConnectionSymbols {
  public int size() {
    throw new UnsupportedOperationException("in preparation");
  }

  public String text(int id) {
    throw new UnsupportedOperationException("in preparation");
  }
}
