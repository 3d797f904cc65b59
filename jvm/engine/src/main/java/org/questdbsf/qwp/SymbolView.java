package org.questdbsf.qwp;

import java.util.List;

/** A connection's dictionary as it will be once the message at hand is accepted. */
final class SymbolView {
  private final ConnectionSymbols known;
  private final int start;
  private final List<String> added;

  SymbolView(ConnectionSymbols known, SymbolDelta delta) {
    this.known = known;
    this.start = delta.start();
    this.added = delta.entries();
  }

  int size() {
    return Math.max(known.size(), start + added.size());
  }

  /** The text of an id below the size. */
  String text(int id) {
    int index = id - start;
    return index >= 0 && index < added.size() ? added.get(index) : known.text(id);
  }
}
