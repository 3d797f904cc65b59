package org.questdbsf.sender;

/** A queue of ints that makes no objects once it has grown to what it holds at most. One thread. */
final class IntQueue {
  private int[] items = new int[64]; // a power of two
  private int first;
  private int size;

  void add(int item) {
    if (size == items.length) {
      int[] grown = new int[2 * size];
      for (int i = 0; i < size; i++) {
        grown[i] = items[first + i & size - 1];
      }
      items = grown;
      first = 0;
    }
    items[first + size & items.length - 1] = item;
    size++;
  }

  /** The oldest one; there must be one. */
  int removeFirst() {
    int item = items[first];
    first = first + 1 & items.length - 1;
    size--;
    return item;
  }

  void clear() {
    first = 0;
    size = 0;
  }
}
