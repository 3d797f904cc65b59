package org.questdbsf.sender;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Numbers the tables that frames of a connection name, from 0. Names are one table's whatever their
 * case, as servers take them. Makes objects only for a spelling it has not seen. One thread.
 */
final class TableNumbers {
  private static final int NONE = -1;

  /** Spellings as they stand in frames, by hash with linear probing; a power of two. */
  private byte[][] spellings = new byte[16][];

  private int[] numberOfSpelling = new int[16];
  private int known;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final List<String> names = new ArrayList<>();

  /** The number of a table by its name in a frame; a new one where it was not named before. */
  int of(byte[] bytes, int offset, int length) {
    int mask = spellings.length - 1;
    int slot = hash(bytes, offset, length) & mask;
    for (; spellings[slot] != null; slot = slot + 1 & mask) {
      byte[] name = spellings[slot];
      if (Arrays.equals(name, 0, name.length, bytes, offset, offset + length)) {
        return numberOfSpelling[slot];
      }
    }
    int number = add(new String(bytes, offset, length, StandardCharsets.UTF_8));
    put(Arrays.copyOfRange(bytes, offset, offset + length), number);
    if (++known > spellings.length / 2) {
      grow();
    }
    return number;
  }

  /** The number of a table; a new one where it was not named before. */
  int add(String name) {
    Integer number = numbers.putIfAbsent(fold(name), names.size());
    if (number != null) {
      return number;
    }
    names.add(name);
    return names.size() - 1;
  }

  /** The table of a number, as the first frame spelled it. */
  String name(int number) {
    return names.get(number);
  }

  /** How many tables were named. */
  int size() {
    return names.size();
  }

  /** The number of a table, or −1 where no frame has named it. */
  int find(String name) {
    return numbers.getOrDefault(fold(name), NONE);
  }

  private static String fold(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  private void put(byte[] name, int number) {
    int mask = spellings.length - 1;
    int slot = hash(name, 0, name.length) & mask;
    while (spellings[slot] != null) {
      slot = slot + 1 & mask;
    }
    spellings[slot] = name;
    numberOfSpelling[slot] = number;
  }

  private void grow() {
    byte[][] names = spellings;
    int[] theirs = numberOfSpelling;
    spellings = new byte[2 * names.length][];
    numberOfSpelling = new int[2 * names.length];
    for (int i = 0; i < names.length; i++) {
      if (names[i] != null) {
        put(names[i], theirs[i]);
      }
    }
  }

  private static int hash(byte[] bytes, int offset, int length) {
    int hash = 1;
    for (int i = offset; i < offset + length; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash ^ hash >>> 16;
  }
}
