package org.questdbsf.qwp;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The dictionary that one end of a connection has built from the delta sections of the messages so
 * far; empty on a new connection. A {@link MessageDecoder} adds to it when, and only when, a whole
 * message was good. For one thread at a time.
 */
public final class ConnectionSymbols {
  private final List<String> texts = new ArrayList<>();

  /** Ids known so far. */
  public int size() {
    return texts.size();
  }

  /** The text of an id below {@link #size()}. */
  public String text(int id) {
    Objects.checkIndex(id, texts.size());
    return texts.get(id);
  }

  /** Adds texts from an id on, at most the next free one; ids already there get the new text. */
  void apply(int start, List<String> entries) {
    for (int i = 0; i < entries.size(); i++) {
      if (start + i < texts.size()) {
        texts.set(start + i, entries.get(i));
      } else {
        texts.add(entries.get(i));
      }
    }
  }
}
