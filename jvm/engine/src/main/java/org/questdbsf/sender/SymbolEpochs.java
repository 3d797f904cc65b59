package org.questdbsf.sender;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.questdbsf.qwp.SymbolDictionary;

/**
 * The dictionaries of the frames of a ring, one after the other: where one has grown too large the
 * next frame begins an empty one. A server keeps one dictionary a connection, so that each begins a
 * connection too. The producer retires them, the loop follows.
 */
final class SymbolEpochs {
  private record Epoch(long firstFsn, SymbolDictionary dictionary) {}

  private final boolean inEachFrame;
  private final Queue<Epoch> later = new ConcurrentLinkedQueue<>();
  private SymbolDictionary current; // the producer's
  private SymbolDictionary shipping; // the loop's

  /**
   * @param inEachFrame whether frames carry their symbols from id 0 on, as in a slot; else only
   *     those that no frame before them carried
   * @param first the dictionary that the first new frames go on with
   * @param starts recovered frames that give ids another meaning than the frames before them
   */
  SymbolEpochs(boolean inEachFrame, SymbolDictionary first, List<Long> starts) {
    this.inEachFrame = inEachFrame;
    this.current = first;
    this.shipping = first;
    starts.forEach(fsn -> later.add(new Epoch(fsn, first)));
  }

  /** Whether frames carry their symbols from id 0 on. */
  boolean inEachFrame() {
    return inEachFrame;
  }

  /** What gives symbols their ids now. Producer's thread only. */
  SymbolDictionary current() {
    return current;
  }

  /**
   * Begins an empty dictionary; before the first frame that goes by it is appended. Producer's
   * thread only.
   */
  SymbolDictionary retire(long firstFsn) {
    current = dictionary();
    later.add(new Epoch(firstFsn, current));
    return current;
  }

  /** One for gathering: what a frame takes of it is the publisher's to bound. */
  static SymbolDictionary dictionary() {
    return new SymbolDictionary(Integer.MAX_VALUE);
  }

  /** Whether a published frame goes by another dictionary than those before it. Loop's thread. */
  boolean begins(long fsn) {
    Epoch next = later.peek();
    return next != null && next.firstFsn <= fsn; // below, where frames were given up
  }

  /** A connection that begins at a published frame. Loop's thread. */
  void enter(long fsn) {
    for (Epoch next = later.peek(); next != null && next.firstFsn <= fsn; next = later.peek()) {
      shipping = next.dictionary;
      later.remove();
    }
  }

  /** The dictionary of the frames on the present connection. Loop's thread. */
  SymbolDictionary shipping() {
    return shipping;
  }
}
