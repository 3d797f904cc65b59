package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.SymbolDictionary;

/**
 * The union of the dictionaries of a slot's last frames: a frame that gives an id another meaning
 * begins a new one. It can be carried on only where each text has one id, and where it is no larger
 * than what every server takes.
 */
final class RecoveredSymbols implements FrameLook.Symbols {
  private final List<byte[]> texts = new ArrayList<>();
  private boolean gap;
  private boolean changedMeaning;

  void beginFrame() {
    changedMeaning = false;
  }

  /** Whether the frame gave an id another meaning than the frames before it. */
  boolean frameChangedMeaning() {
    return changedMeaning;
  }

  @Override
  public void symbol(int id, byte[] bytes, int offset, int length) {
    if (id < texts.size()) {
      byte[] known = texts.get(id);
      if (Arrays.equals(known, 0, known.length, bytes, offset, offset + length)) {
        return;
      }
      texts.subList(id, texts.size()).clear();
      changedMeaning = true;
    }
    gap |= id > texts.size();
    texts.add(Arrays.copyOfRange(bytes, offset, offset + length));
  }

  /** Fills an empty dictionary; false, and it stays empty, where that is not possible. */
  boolean into(SymbolDictionary dictionary) {
    if (gap || texts.size() > QwpLimits.MAX_SYMBOLS) {
      return false;
    }
    for (int id = 0; id < texts.size(); id++) {
      byte[] text = texts.get(id);
      if (dictionary.idOf(text, 0, text.length) != id) {
        dictionary.rollbackTo(0);
        return false;
      }
    }
    return true;
  }
}
